// Command report measures what whale report takes: time, and peak memory of the process.
//
//	go run ./bench/report -whale ./whale [-times 3] RUN
//
// RUN is a finished run. It is copied once for each method and seed of a comparison (18 copies), with the method and the seed in the copy's config
// changed, so that the report pairs them as it would real ones; the numbers in it mean nothing. Linux: the peak is what the kernel says (ru_maxrss).
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/seed-095d5d2b/whale/recipe"
)

func main() {
	whale := flag.String("whale", "", "the whale program to measure")
	seeds := flag.Int("seeds", 3, "seeds a method")
	times := flag.Int("times", 3, "how often to measure")
	flag.Parse()
	if *whale == "" || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "report: usage: report -whale PROGRAM RUN")
		os.Exit(2)
	}
	if err := measure(*whale, flag.Arg(0), *seeds, *times); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func measure(whale, run string, seeds, times int) (err error) {
	dir, err := os.MkdirTemp("", "whale-bench-report-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	runs, size, err := copies(run, dir, seeds)
	if err != nil {
		return err
	}
	fmt.Printf("%d runs with %.1f MiB of journal each, %s, %d CPUs\n\n", len(runs), float64(size)/(1<<20), runtime.Version(), runtime.NumCPU())
	fmt.Println("| seconds | CPU seconds | peak memory, MiB |")
	fmt.Println("|---|---|---|")
	for range times {
		cmd := exec.Command(whale, append([]string{"report", "--out", filepath.Join(dir, "report")}, runs...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%w: %s", err, stderr.String())
		}
		wall := time.Since(start)
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return errors.New("this system does not say what a process used")
		}
		cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		fmt.Printf("| %.2f | %.2f | %.0f |\n", wall.Seconds(), cpu.Seconds(), float64(usage.Maxrss)/1024)
	}
	return nil
}

var (
	seedLine   = regexp.MustCompile(`(?m)^seed: .*$`)
	methodLine = regexp.MustCompile(`(?m)^  method: .*$`)
)

// copies makes a copy of a run for each method and seed, of what a report reads.
func copies(run, dir string, seeds int) (runs []string, journal int64, err error) {
	config, err := os.ReadFile(filepath.Join(run, "config.yaml"))
	if err != nil {
		return nil, 0, err
	}
	if n := len(seedLine.FindAll(config, -1)); n != 1 {
		return nil, 0, fmt.Errorf("%s: config: got %d lines of seed, want 1", run, n)
	}
	if n := len(methodLine.FindAll(config, -1)); n != 1 {
		return nil, 0, fmt.Errorf("%s: config: got %d lines of schedule.method, want 1", run, n)
	}
	for _, method := range recipe.Methods() {
		for seed := range seeds {
			to := filepath.Join(dir, fmt.Sprintf("%s-%d", method, seed+1))
			c := seedLine.ReplaceAll(config, fmt.Appendf(nil, "seed: %d", seed+1))
			c = methodLine.ReplaceAll(c, []byte("  method: "+method))
			db, err := os.ReadFile(filepath.Join(run, "journal.db"))
			if err != nil {
				return nil, 0, err
			}
			err = errors.Join(os.MkdirAll(to, 0o755), os.WriteFile(filepath.Join(to, "config.yaml"), c, 0o644), os.WriteFile(filepath.Join(to, "journal.db"), db, 0o644))
			if err != nil {
				return nil, 0, err
			}
			runs, journal = append(runs, to), int64(len(db))
		}
	}
	return runs, journal, nil
}
