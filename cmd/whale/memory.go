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
	return fmt.Sprintf("memory at most %s to sample (weights %s, keys and values %s), %s to train %s on sequences of up to %d tokens",
		megabytes(m.Sampling), megabytes(m.Weights), megabytes(m.Keys), megabytes(m.Training), what, m.Longest), nil
}
