// Command isolation measures what it costs to run harness programs in worker processes instead of in this one. Both ways take turns in one run,
// with a host that answers at once or after the time of a small model:
//
//	call      µs from an answer of the host to the next model call of the episode, by the median of all calls
//	rate      wall time of a model call where all episodes call as fast as they can, so that they wait for each other
//	episodes  episodes of one model call a second
//
// bench/README.md has the numbers.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/sandbox"
)

func main() {
	if sandbox.Main(sandbox.Entries{Streams: process.Entries()}) {
		return // this process was a worker
	}
	rounds := flag.Int("rounds", 5, "rounds; in each both ways take their turn")
	calls := flag.Int("calls", 1600, "model calls of a measurement")
	episodes := flag.Int("episodes", 1000, "trivial episodes of a measurement")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "worker processes")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := run(*rounds, *calls, *episodes, *workers, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "isolation:", err)
		os.Exit(1)
	}
}

// result is one line of the table: medians over the rounds with the lowest and the highest round.
type result struct {
	What    string     `json:"what"`
	Process [3]float64 `json:"in_process"` // median, lowest, highest
	Worker  [3]float64 `json:"worker"`
	// Overhead is the worker's median less the other; of a rate, the worker's share of it.
	Overhead float64 `json:"overhead"`
}

func run(rounds, calls, episodes, workers int, asJSON bool) error {
	const most = 32 // episodes at a time
	rt, err := process.Open(process.Options{Workers: workers, Concurrency: most, Memory: 512 << 20})
	if err != nil {
		return err
	}
	defer rt.Close()
	b := &bench{runtime: rt}
	var all []result
	add := func(what string, rate bool, measure func(way way) (float64, error)) error {
		var got [2][]float64
		for range rounds {
			for _, w := range []way{inProcess, inWorker} {
				v, err := measure(w)
				if err != nil {
					return fmt.Errorf("%s: %w", what, err)
				}
				got[w] = append(got[w], v)
			}
		}
		r := result{What: what, Process: spread(got[inProcess]), Worker: spread(got[inWorker])}
		r.Overhead = r.Worker[0] - r.Process[0]
		if rate {
			r.Overhead = r.Worker[0] / r.Process[0]
		}
		all = append(all, r)
		return nil
	}
	if err := b.warm(most); err != nil {
		return err
	}
	for _, at := range []int{1, most} {
		for _, think := range []time.Duration{0, 2 * time.Millisecond} {
			what := fmt.Sprintf("call, %d at a time, model of %v, µs", at, think)
			if err := add(what, false, func(w way) (float64, error) { return b.call(w, at, calls, think) }); err != nil {
				return err
			}
		}
		if err := add(fmt.Sprintf("rate, %d at a time, µs a call", at), false, func(w way) (float64, error) { return b.rate(w, at, calls) }); err != nil {
			return err
		}
	}
	for _, at := range []int{1, most} {
		if err := add(fmt.Sprintf("episodes/s, %d at a time", at), true, func(w way) (float64, error) { return b.trivial(w, at, episodes) }); err != nil {
			return err
		}
	}
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(map[string]any{
			"cores": runtime.GOMAXPROCS(0), "workers": workers, "rounds": rounds, "calls": calls, "episodes": episodes, "results": all,
		})
	}
	return table(all)
}

func table(all []result) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tin process\tworker\toverhead")
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%.1f (%.1f to %.1f)\t%.1f (%.1f to %.1f)\t%.2f\n",
			r.What, r.Process[0], r.Process[1], r.Process[2], r.Worker[0], r.Worker[1], r.Worker[2], r.Overhead)
	}
	return w.Flush()
}

// spread gives median, lowest and highest.
func spread(v []float64) [3]float64 {
	v = slices.Sorted(slices.Values(v))
	return [3]float64{v[len(v)/2], v[0], v[len(v)-1]}
}
