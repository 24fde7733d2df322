// Command selection measures what the ways to select a harness (metaharness.Selection) cost in rollouts, and how often they are fooled by luck.
//
//	go run ./bench/selection -config examples/math/quick.yaml -rewards /tmp/rewards.json
//
// First it makes real programs and real rewards: a few sessions of both proposers start from the config's harness under its weights, and
// every program that got a score runs a number of draws of each search example. They are kept in the file that -rewards names, and not
// measured again where it is there. Then it plays many harness phases with the search itself (metaharness.Search), in which an episode
// is a draw of those rewards: with twins of the incoming harness alone, and with the real programs as candidates.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
)

func main() {
	if sandbox.Main(sandbox.Entries{Calls: map[string]sandbox.Entry{calc.EntryName: calc.Entry}, Streams: process.Entries()}) {
		return // this process was a worker
	}
	var m measuring
	var p playing
	var file string
	flag.StringVar(&m.config, "config", "examples/math/quick.yaml", "the config: task, harness, weights, sampling")
	flag.StringVar(&m.model, "weights", "", "weights in place of the config's model")
	flag.IntVar(&m.draws, "draws", 6, "draws of each example that are measured")
	flag.IntVar(&m.sessions, "gather", 3, "sessions of each proposer, of 3 candidates, that make the programs")
	flag.StringVar(&file, "rewards", "", "file of measured rewards; made where it is not there")
	flag.IntVar(&p.phases, "phases", 300, "phases that are played for each row")
	flag.IntVar(&p.sessions, "sessions", 3, "sessions of a played phase, of 3 candidates")
	flag.Float64Var(&p.level, "level", 0.05, "level of paired acceptance")
	flag.Float64Var(&p.racing, "racing", 0.02, "bound of racing")
	flag.Float64Var(&p.better, "better", 0.02, "how much more reward makes a program truly better")
	flag.Uint64Var(&p.seed, "seed", 1, "seed of the played phases")
	flag.StringVar(&p.dir, "dir", os.TempDir(), "where the played phases keep their archives")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, m, p, file); err != nil {
		fmt.Fprintln(os.Stderr, "selection:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, m measuring, p playing, file string) error {
	r, err := readRewards(file)
	if err != nil {
		return err
	}
	if r == nil {
		if r, err = m.measure(ctx); err != nil {
			return err
		}
		if err := r.write(file); err != nil {
			return err
		}
	}
	r.describe(os.Stdout)
	return p.play(ctx, r, os.Stdout)
}
