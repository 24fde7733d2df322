package main

import (
	"fmt"

	"github.com/seed-095d5d2b/whale/recipe"
)

// memoryOf says what a run takes at most, beside the weights it starts from.
func (a *app) memoryOf(r *recipe.Run) (string, error) {
	m, err := r.Memory(a.workers)
	if err != nil {
		return "", err
	}
	what := "all weights"
	if rank := r.Config.Weight.LoRA.Rank; rank > 0 {
		what = fmt.Sprintf("an adapter of rank %d", rank)
	}
	score := ""
	if m.Scoring > 0 {
		score = fmt.Sprintf(", %s to score under a phase's first weights", megabytes(m.Scoring))
	}
	return fmt.Sprintf("memory at most %s, and up to half as much again before the garbage collector takes it back: %s to sample (keys and values %s), %s to train %s "+
		"(sequences of up to %d tokens)%s, %s for the weights it starts from",
		megabytes(m.Run()), megabytes(m.Sampling), megabytes(m.Keys), megabytes(m.Training), what, m.Longest, score, megabytes(m.Weights)), nil
}
