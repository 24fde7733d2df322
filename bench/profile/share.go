package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
)

const module = "github.com/seed-095d5d2b/whale/"

// engine is the part that a package of the engine counts for.
const engine = "engine (lm, lm/kernel)"

// share reads the output of go tool pprof -traces: blocks of a time and a stack, innermost function first.
func share(traces []byte) map[string]time.Duration {
	parts := map[string]time.Duration{}
	var took time.Duration
	var stack []string
	flush := func() {
		if took > 0 && !slices.ContainsFunc(stack, func(f string) bool { return strings.HasPrefix(f, "main.(*wallSampler)") }) {
			parts[partOf(stack)] += took
		}
		took, stack = 0, nil
	}
	lines := bufio.NewScanner(bytes.NewReader(traces))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "-----") {
			flush()
			continue
		}
		fields := strings.Fields(line)
		if len(fields) > 1 && stack == nil {
			if d, err := time.ParseDuration(fields[0]); err == nil {
				took, fields = d, fields[1:]
			}
		}
		if took > 0 && len(fields) > 0 {
			stack = append(stack, fields[0])
		}
	}
	flush()
	return parts
}

// partOf says whose a stack is.
func partOf(stack []string) string {
	first := ""
	for _, f := range stack {
		rest, ok := strings.CutPrefix(f, module)
		if !ok {
			continue
		}
		rest, _, _ = strings.Cut(rest, "[") // type parameters
		dir, last := "", rest
		if i := strings.LastIndexByte(rest, '/'); i >= 0 {
			dir, last = rest[:i+1], rest[i+1:]
		}
		name, _, _ := strings.Cut(last, ".")
		if pkg := dir + name; pkg == "lm" || pkg == "lm/kernel" {
			return engine
		} else if first == "" {
			first = pkg
		}
	}
	switch {
	case first != "":
		return first
	case slices.ContainsFunc(stack, func(f string) bool {
		return strings.HasPrefix(f, "runtime.gcBg") || strings.HasPrefix(f, "runtime.bgs")
	}):
		return "Go's garbage collector"
	case slices.ContainsFunc(stack, func(f string) bool {
		return strings.HasPrefix(f, "modernc.org/") || strings.HasPrefix(f, "database/sql")
	}):
		return "SQLite"
	}
	return "Go's runtime and the rest"
}

func report(wall time.Duration, parts map[string]time.Duration) {
	var all time.Duration
	for _, d := range parts {
		all += d
	}
	cores := runtime.GOMAXPROCS(0)
	fmt.Printf("wall %.1f s on %d cores; CPU %.1f s, %.0f%% of the cores; outside the engine %.1f s, %.1f%% of the CPU time\n\n",
		wall.Seconds(), cores, all.Seconds(), 100*all.Seconds()/(wall.Seconds()*float64(cores)), (all - parts[engine]).Seconds(), 100*(1-parts[engine].Seconds()/all.Seconds()))
	fmt.Println("| part | CPU s | share |\n|---|---|---|")
	for _, p := range slices.SortedFunc(maps.Keys(parts), func(a, b string) int { return cmp.Compare(parts[b], parts[a]) }) {
		fmt.Printf("| %s | %.2f | %.1f%% |\n", p, parts[p].Seconds(), 100*parts[p].Seconds()/all.Seconds())
	}
}
