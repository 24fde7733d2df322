// Command sampling measures the embedded sampler. It loads a model, prints one JSON line that describes it, and then answers each line on its
// standard input by one measurement, so that compare.py can take turns with other engines on one machine:
//
//	batch SEQUENCES PROMPT NEW TEMPERATURE   that many different prompts at once, each continued by NEW tokens
//	fork SAMPLES PROMPT                      first tokens of so many samples of one prompt, after those of one sample of another prompt
//
// Each answer is a JSON line. bench/README.md has the numbers.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/local"
)

func main() {
	model := flag.String("model", "whale-tiny", "embedded model, folder or GGUF file")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "CPU cores")
	flag.Parse()
	if err := run(*model, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "sampling:", err)
		os.Exit(1)
	}
}

type bench struct {
	model  *lm.Model
	opt    lm.GeneratorOptions
	fresh  int // number of the next prompt: no two are alike
	answer *json.Encoder
}

func run(path string, workers int) error {
	b, err := local.Open(path)
	if err != nil {
		return err
	}
	pool := kernel.NewPool(workers)
	defer pool.Close()
	t := &bench{model: b.Model, opt: lm.GeneratorOptions{Pool: pool, MaxBatch: 64, CacheTokens: 1 << 14, MemoryBytes: 4 << 30}, answer: json.NewEncoder(os.Stdout)}
	c := b.Model.Config()
	if err := t.answer.Encode(map[string]any{"engine": "whale " + kernel.Variant(), "parameters": b.Model.NumParams(), "vocab": c.Vocab, "workers": workers}); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := t.do(lines.Text()); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
	}
	return lines.Err()
}

func (b *bench) do(line string) error {
	var sequences, prompt, fresh int
	var temperature float32
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "batch":
		if _, err := fmt.Sscan(rest, &sequences, &prompt, &fresh, &temperature); err != nil {
			return err
		}
		return b.batch(sequences, prompt, fresh, temperature)
	case "fork":
		if _, err := fmt.Sscan(rest, &sequences, &prompt); err != nil {
			return err
		}
		return b.fork(sequences, prompt)
	default:
		return fmt.Errorf("got %q, want batch or fork", word)
	}
}

// tokens is the prompt of a number, which compare.py makes by the same formula.
func (b *bench) tokens(number, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32((number*7919 + i*104729 + i*i*31) % b.model.Config().Vocab)
	}
	return ids
}

func (b *bench) batch(sequences, prompt, fresh int, temperature float32) error {
	g := lm.NewGenerator(b.model, b.opt)
	defer g.Close()
	var requests []lm.Request
	for i := range sequences {
		requests = append(requests, lm.Request{Prompt: b.tokens(i, prompt), MaxTokens: fresh, Seed: uint64(i), Temperature: temperature})
	}
	start, before := time.Now(), usage()
	n, err := generate(g, requests)
	if err != nil {
		return err
	}
	seconds, after := time.Since(start).Seconds(), usage()
	cpu := float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9
	return b.answer.Encode(map[string]any{"tokens": n, "seconds": seconds, "cpu_seconds": cpu, "peak_mb": after.Maxrss / 1024})
}

func (b *bench) fork(samples, prompt int) error {
	g := lm.NewGenerator(b.model, b.opt)
	defer g.Close()
	first := func(n int) (float64, error) {
		ids := b.tokens(1000+b.fresh, prompt)
		b.fresh++
		var requests []lm.Request
		for i := range n {
			requests = append(requests, lm.Request{Prompt: ids, MaxTokens: 1, Seed: uint64(i), Temperature: 1})
		}
		start := time.Now()
		_, err := generate(g, requests)
		return time.Since(start).Seconds(), err
	}
	one, err := first(1)
	if err != nil {
		return err
	}
	many, err := first(samples)
	if err != nil {
		return err
	}
	return b.answer.Encode(map[string]any{"one": one, "many": many, "ratio": many / one})
}

// generate runs all requests at once and counts the sampled tokens.
func generate(g *lm.Generator, requests []lm.Request) (int, error) {
	var all sync.WaitGroup
	results := make([]lm.Result, len(requests))
	errs := make([]error, len(requests))
	for i, r := range requests {
		all.Go(func() { results[i], errs[i] = g.Generate(context.Background(), r) })
	}
	all.Wait()
	n := 0
	for i, r := range results {
		if errs[i] != nil {
			return 0, errs[i]
		}
		n += len(r.Tokens)
	}
	return n, nil
}

// usage is what this process has used so far; zeros where the system does not say.
func usage() (u syscall.Rusage) {
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u
}
