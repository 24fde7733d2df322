package modelupdate

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/seed-095d5d2b/whale"
)

// Config are the settings that every update has. Numbers in parentheses are the paper's.
type Config struct {
	Batch        int     `yaml:"batch" json:"batch"`                 // examples a step, B (256)
	Group        int     `yaml:"group" json:"group"`                 // rollouts an example, G (8)
	Minibatch    int     `yaml:"minibatch" json:"minibatch"`         // rollouts an optimiser step, of those that are learned from (64)
	Passes       int     `yaml:"passes" json:"passes"`               // passes over the rollouts that are learned from (1)
	LearningRate float64 `yaml:"learning_rate" json:"learning_rate"` // (1e-7 at 2B parameters)
}

// Validate names the first setting that makes no sense.
func (c Config) Validate() error {
	for _, k := range []struct {
		name string
		v    int
	}{{"batch", c.Batch}, {"group", c.Group}, {"minibatch", c.Minibatch}, {"passes", c.Passes}} {
		if k.v < 1 {
			return fmt.Errorf("weight.%s: got %d, want 1 or more", k.name, k.v)
		}
	}
	if !(c.LearningRate > 0) {
		return fmt.Errorf("weight.learning_rate: got %g, want more than 0", c.LearningRate)
	}
	return nil
}

// Minibatch is what one optimiser step learns from.
type Minibatch struct {
	Op    string // the id of its operations, unique in a run
	Items []int  // indices of rollouts
}

// Minibatches divides n rollouts into minibatches, once a pass, in an order that follows from the run's seed, a label of the kind of update,
// the step and the pass.
func (c Config) Minibatches(runSeed uint64, label string, step, n int) []Minibatch {
	var out []Minibatch
	for pass := range c.Passes {
		seed := whale.DeriveSeed(runSeed, label, strconv.Itoa(step), strconv.Itoa(pass))
		order := rand.New(rand.NewPCG(runSeed, uint64(seed))).Perm(n)
		for from := 0; from < n; from += c.Minibatch {
			out = append(out, Minibatch{
				Op:    fmt.Sprintf("step/%d/pass/%d/minibatch/%d", step, pass, from/c.Minibatch),
				Items: order[from:min(from+c.Minibatch, n)],
			})
		}
	}
	return out
}
