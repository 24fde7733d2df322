// Command profile runs a config as whale run does, under a CPU profile, and prints where the time went: the share of the engine (package lm and
// its kernels), and each other package's.
//
//	go run ./bench/profile -config examples/math/quick.yaml
//
// A sample counts for the engine if a function of lm is anywhere on its stack, else for the innermost package of this module on it, else for Go's
// runtime. The wall time is looked at apart: the engine's own clock says exactly in which share of it the engine computes (the union of a
// generator's steps, of training and of scoring; not the time in which it waits for requests), and samples say what runs in the rest. Worker processes (the calculator's) are counted whole, by their CPU time. The profile stays at -out for go tool pprof.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
)

func main() {
	if sandbox.Main(sandbox.Entries{Calls: map[string]sandbox.Entry{calc.EntryName: calc.Entry}, Streams: process.Entries()}) {
		return // this process was a worker
	}
	config := flag.String("config", "examples/math/quick.yaml", "the config")
	out := flag.String("out", "whale.prof", "where to leave the CPU profile")
	flag.Parse()
	if err := run(*config, *out); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

func run(config, out string) error {
	c, err := recipe.LoadConfig(config)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "profile")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	engineClock := kernel.NewStopwatch(time.Now)
	sampler := startWall()
	wall, err := profiled(c, dir+"/run", out, engineClock)
	sampler.end()
	if err != nil {
		return err
	}
	workers := cpu(syscall.RUSAGE_CHILDREN) // before pprof is one
	traces, err := exec.Command("go", "tool", "pprof", "-traces", out).Output()
	if err != nil {
		return fmt.Errorf("go tool pprof: %w", err)
	}
	parts := share(traces)
	parts["worker processes"] = workers
	report(wall, parts)
	busy := engineClock.Elapsed()
	fmt.Printf("\nthe engine computes in %.2f s of the wall time, %.1f%% (by its clock), and not in %.2f s, %.1f%%\n",
		busy.Seconds(), 100*busy.Seconds()/wall.Seconds(), (wall - busy).Seconds(), 100*(1-busy.Seconds()/wall.Seconds()))
	return sampler.report()
}

// profiled runs a config from its start to its final table, and has the engine's time taken from when the run is open.
func profiled(c recipe.Config, dir, out string, engineClock *kernel.Stopwatch) (wall time.Duration, err error) {
	f, err := os.Create(out)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	ctx := context.Background()
	start := time.Now()
	if err := pprof.StartCPUProfile(f); err != nil {
		return 0, err
	}
	defer pprof.StopCPUProfile()
	r, err := recipe.Start(ctx, c, dir, recipe.Options{Now: time.Now, Workers: runtime.GOMAXPROCS(0), Observe: func(recipe.Event) {}})
	if err != nil {
		return 0, err
	}
	r.Pool.Measure(engineClock)
	_, err = r.Execute(ctx)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return time.Since(start), err
}

// cpu is the CPU time of this process or of its ended children.
func cpu(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
