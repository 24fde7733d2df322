package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-095d5d2b/whale"
)

// rewards are what programs got under one set of weights: the measured world that phases are played in.
type rewards struct {
	Config   string    `json:"config"`
	Task     whale.ID  `json:"task"`
	Weights  whale.ID  `json:"weights"`
	Seed     uint64    `json:"seed"`
	Examples int       `json:"examples"`
	Draws    int       `json:"draws"`
	Programs []program `json:"programs"` // the incoming harness first
}

type program struct {
	ID      whale.ID `json:"id"`
	By      string   `json:"by"` // proposer
	Source  string   `json:"source"`
	Passed  [][]int  `json:"passed"`  // [examples][draws], 0 or 1
	Sampled [][]int  `json:"sampled"` // [examples][draws] tokens
}

// mean is the reward over all that was measured: in the played phases the true one.
func (p *program) mean() float64 {
	sum, n := 0, 0
	for _, row := range p.Passed {
		for _, x := range row {
			sum += x
			n++
		}
	}
	return float64(sum) / float64(n)
}

// readRewards reads the file, if it is there.
func readRewards(path string) (*rewards, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(rewards)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (r *rewards) write(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func (r *rewards) describe(w io.Writer) {
	fmt.Fprintf(w, "%s: weights %s, task %s, run seed %d; %d programs, %d examples, %d draws of each\n\nTrue means:", r.Config, r.Weights.Short(), r.Task.Short(), r.Seed, len(r.Programs), r.Examples, r.Draws)
	for i := range r.Programs {
		fmt.Fprintf(w, " %s %.3f", r.Programs[i].By, r.Programs[i].mean())
	}
	fmt.Fprint(w, "\n\n")
}
