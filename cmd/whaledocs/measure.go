package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/local"
)

const (
	quickConfig = "examples/math/quick.yaml"
	firstHarn   = "examples/math/h0.star"
)

// inputs name what a measured block depends on: the block quotes them, and a test compares them with what is there now.
func inputs(root string) (string, error) {
	b, err := local.Open(tiny)
	if err != nil {
		return "", err
	}
	src, err := os.ReadFile(filepath.Join(root, firstHarn))
	if err != nil {
		return "", err
	}
	config, err := os.ReadFile(filepath.Join(root, quickConfig))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("weights %s, %s %s, %s %s", b.Weights().ID.Short(), filepath.Base(firstHarn), whale.HarnessID(src).Short(),
		filepath.Base(quickConfig), whale.HashBytes("docs", config).Short()), nil
}

// circumstances says of what and on what something was measured.
func circumstances(root string) (string, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("rev-parse", "--short", "HEAD")
	if err != nil {
		return "", fmt.Errorf("git: %w", err)
	}
	changed, err := git("status", "--porcelain", "--", ".", ":!docs", ":!README.md", ":!changelog", ":!cmd/whaledocs")
	if err != nil {
		return "", fmt.Errorf("git: %w", err)
	}
	if changed != "" {
		commit += " with uncommitted changes"
	}
	return measuredWith(root, "at commit "+commit)
}

// measuredWith says what was measured, and on what machine, with code that is named in words.
func measuredWith(root, code string) (string, error) {
	in, err := inputs(root)
	if err != nil {
		return "", err
	}
	cpu := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "model name\t: "); ok {
			cpu, _, _ = strings.Cut(rest, "\n")
		}
	}
	return fmt.Sprintf("Measured %s (%s) on %d cores (%s), kernels %s, %s.", code, in, runtime.GOMAXPROCS(0), cpu, kernel.Variant(), runtime.Version()), nil
}

// controlFlag stands in the table for the control model, wherever it was made.
const controlFlag = " --model CONTROL"

// accuracyBlock measures the embedded model as it comes.
func accuracyBlock(src source) (string, error) {
	about, err := circumstances(src.root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(about + "\n\n| command | examples | mean@k | 95% interval | box | cut off | tool used | turns |\n|---|---|---|---|---|---|---|---|\n")
	rows := []string{
		"eval " + quickConfig + " --split validation --draws 8",
		"eval " + quickConfig + " --split search --draws 8",
	}
	if src.control != "" {
		rows = append(rows, rows[0]+controlFlag)
	}
	for _, args := range rows {
		cmd := exec.Command(src.bin, append(strings.Fields(strings.Replace(args, controlFlag, " --model "+src.control, 1)), "--json")...)
		cmd.Dir = src.root
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("whale %s: %w", args, err)
		}
		var r struct {
			Examples, Draws int
			Mean, Low, High float64
			Metrics         map[string]float64
		}
		if err := json.Unmarshal(out, &r); err != nil {
			return "", fmt.Errorf("whale %s: %w", args, err)
		}
		m := r.Metrics
		fmt.Fprintf(&b, "| `whale %s` | %d | %.1f%% | %.1f to %.1f | %.3f | %.3f | %.3f | %.2f |\n",
			args, r.Examples, 100*r.Mean, 100*r.Low, 100*r.High, m["box"], m["cut_off"], m["tool_used"], m["turns"])
	}
	return b.String(), nil
}

// runBlock runs the quick example and shows what it printed.
func runBlock(src source) (string, error) {
	about, err := circumstances(src.root)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "whaledocs-run")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	run := filepath.Join(dir, "run")
	cmd := exec.Command(src.bin, "run", quickConfig, "--dir", run)
	cmd.Dir = src.root
	var printed bytes.Buffer // both streams, as on a terminal
	cmd.Stdout, cmd.Stderr = &printed, &printed
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("whale run: %w: %s", err, printed.String())
	}
	wall := time.Since(start)
	text := strings.ReplaceAll(strings.ReplaceAll(printed.String(), run, "runs/math-quick"), src.root+"/", "")
	return fmt.Sprintf("%s It took %.0f s and at most %d MB of memory (%s).\n\n```text\n$ go run ./cmd/whale run %s\n%s\n```\n",
		about, wall.Seconds(), peakMemory(cmd.ProcessState)>>20, "resident, without the calculator's workers", quickConfig, strings.TrimRight(text, "\n")), nil
}

// peakMemory is the most memory in bytes that an ended process had resident.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) // bytes there, KiB elsewhere
	}
	return int64(usage.Maxrss) << 10
}
