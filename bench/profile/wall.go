package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// wallSampler looks at all goroutines every so often: CPU time says what costs, but only wall time says when the engine stood still.
type wallSampler struct {
	stop, done chan struct{}
	samples    int
	busy       int            // with the engine at work
	outside    map[string]int // the others, by what ran instead
}

const wallEvery = 100 * time.Millisecond // a look costs a millisecond of all cores

// engineAtWork are functions of the engine that are on a stack while it computes, and not while it waits for requests.
var engineAtWork = []string{module + "lm.(*batch).", module + "lm.(*Trainer).", module + "lm.(*Model).", module + "lm/kernel.(*Kernels)."}

// waitsForWorker is on the stacks that stand in a system call for as long as a worker process lives.
const waitsForWorker = module + "sandbox.awaitExit"

func startWall() *wallSampler {
	s := &wallSampler{stop: make(chan struct{}), done: make(chan struct{}), outside: map[string]int{}}
	go func() {
		defer close(s.done)
		tick := time.NewTicker(wallEvery)
		defer tick.Stop()
		buf := make([]byte, 4<<20)
		for {
			select {
			case <-s.stop:
				return
			case <-tick.C:
				s.look(string(buf[:runtime.Stack(buf, true)]))
			}
		}
	}()
	return s
}

// end stops the sampling and waits for it.
func (s *wallSampler) end() {
	close(s.stop)
	<-s.done
}

// look classifies one dump of all goroutines; the first is the sampler itself.
func (s *wallSampler) look(dump string) {
	s.samples++
	if slices.ContainsFunc(engineAtWork, func(f string) bool { return strings.Contains(dump, f) }) {
		s.busy++
		return
	}
	running := ""
	for _, g := range strings.Split(dump, "\n\n")[1:] {
		head, stack, _ := strings.Cut(g, "\n")
		if !strings.Contains(head, "[run") && !strings.Contains(head, "[syscall") || strings.Contains(stack, waitsForWorker) {
			continue
		}
		var functions []string
		for line := range strings.Lines(stack) {
			if !strings.HasPrefix(line, "\t") {
				functions = append(functions, strings.TrimSpace(line))
			}
		}
		if part := partOf(functions); running == "" || strings.HasPrefix(running, "Go's") {
			running = part
		}
	}
	if running == "" {
		running = "nothing: waits for the disk or for a worker process"
	}
	if running == engine { // a call that came between its steps
		s.busy++
		return
	}
	s.outside[running]++
}

func (s *wallSampler) report() error {
	if s.busy == 0 {
		return fmt.Errorf("wall: got no sample of %d with the engine at work; its functions have other names now", s.samples)
	}
	fmt.Printf("the engine is at work in %.1f%% of the wall time (%d samples, one each %v); the rest:\n\n", 100*float64(s.busy)/float64(s.samples), s.samples, wallEvery)
	fmt.Println("| meanwhile | share of wall time |\n|---|---|")
	var parts []string
	for p := range s.outside {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b string) int { return s.outside[b] - s.outside[a] })
	for _, p := range parts {
		fmt.Printf("| %s | %.1f%% |\n", p, 100*float64(s.outside[p])/float64(s.samples))
	}
	return nil
}
