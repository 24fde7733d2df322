package math

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// bucketPretrain holds the problems that a pre-training corpus may use. It is no split: no task ever offers it.
const bucketPretrain = "pretrain"

// buckets decides where a problem belongs, by its text alone and so for every seed and every setting alike.
func buckets() task.Buckets {
	return task.Buckets{
		{Name: bucketPretrain, Percent: 40},
		{Name: string(whale.SplitTrain), Percent: 25},
		{Name: string(whale.SplitSearch), Percent: 12},
		{Name: string(whale.SplitValidation), Percent: 8},
		{Name: string(whale.SplitTest), Percent: 15},
	}
}

// Counts says how many examples each split has.
type Counts = task.Counts

// GeneratorOptions decides every generated problem: equal options, equal problems.
type GeneratorOptions struct {
	Seed      uint64  `json:"seed" yaml:"seed"`
	TwoStep   float64 `json:"two_step" yaml:"two_step"`     // share of two-step problems, 0 to 1
	Bare      float64 `json:"bare" yaml:"bare"`             // share of arithmetic without a story, 0 to 1
	MaxDigits int     `json:"max_digits" yaml:"max_digits"` // of a number in the text, 1 to 3
	Counts    Counts  `json:"counts" yaml:"counts"`
}

// DefaultGeneratorOptions gives half one-step and half two-step problems, three in ten of them bare, with numbers of up to three digits.
func DefaultGeneratorOptions() GeneratorOptions {
	return GeneratorOptions{
		Seed: 1, TwoStep: 0.5, Bare: 0.3, MaxDigits: 3,
		Counts: Counts{Train: 2048, Search: 128, Validation: 128, Test: 256},
	}
}

// maxProblems bounds what one call may ask for; beyond it the wordings repeat too much to be of use.
const maxProblems = 1 << 20

// Validate reports options out of range.
func (o GeneratorOptions) Validate() error {
	if !(o.TwoStep >= 0 && o.TwoStep <= 1) {
		return fmt.Errorf("generator.two_step: got %v, want 0 to 1", o.TwoStep)
	}
	if !(o.Bare >= 0 && o.Bare <= 1) {
		return fmt.Errorf("generator.bare: got %v, want 0 to 1", o.Bare)
	}
	if o.MaxDigits < 1 || o.MaxDigits > 3 {
		return fmt.Errorf("generator.max_digits: got %d, want 1 to 3", o.MaxDigits)
	}
	for _, s := range splits() {
		if n, _ := o.Counts.Of(s); n < 0 || n > maxProblems {
			return fmt.Errorf("generator.counts.%s: got %d, want 0 to %d", s, n, maxProblems)
		}
	}
	return nil
}

func splits() []whale.Split {
	return []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation, whale.SplitTest}
}

// Generator makes problems. It holds no state: each method is a function of the options.
type Generator struct {
	options   GeneratorOptions
	templates [2][2][]template // [two-step][bare]
}

// NewGenerator checks the options.
func NewGenerator(o GeneratorOptions) (*Generator, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	g := &Generator{options: o}
	for two, list := range [][]template{oneStep(), twoStep()} {
		for _, t := range list {
			bare := index(t.bare)
			g.templates[two][bare] = append(g.templates[two][bare], t)
		}
	}
	return g, nil
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Generate makes the problems of every split.
func Generate(o GeneratorOptions) (map[whale.Split][]Problem, error) {
	g, err := NewGenerator(o)
	if err != nil {
		return nil, err
	}
	out := make(map[whale.Split][]Problem, len(splits()))
	for _, s := range splits() {
		if out[s], err = g.Split(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Split makes the problems of one split, as many as the options count. A longer split starts with the problems of a shorter one.
func (g *Generator) Split(s whale.Split) ([]Problem, error) {
	n, ok := g.options.Counts.Of(s)
	if !ok {
		return nil, fmt.Errorf("math: got split %q, want one of %v", s, splits())
	}
	return g.fill(string(s), n)
}

// Pretrain makes n problems for a pre-training corpus, from a bucket that no split draws on.
func (g *Generator) Pretrain(n int) ([]Problem, error) {
	if n < 0 || n > maxProblems {
		return nil, fmt.Errorf("math: got %d pre-training problems, want 0 to %d", n, maxProblems)
	}
	return g.fill(bucketPretrain, n)
}

// maxTries bounds the candidates of one template for one problem. The rarest template in the smallest bucket hits about once in a
// hundred tries, so running out means that (nearly) every problem which the options allow for it is used up.
const maxTries = 2000

// fill draws n distinct problems of a bucket. The template is chosen before any candidate is rejected, so that rejection does not
// bend the mix; a template that is used up leaves its list.
func (g *Generator) fill(bucket string, n int) ([]Problem, error) {
	r := source(g.options.Seed, bucket)
	lists := g.lists()
	seen := make(map[string]bool, n)
	out := make([]Problem, 0, n)
	for len(out) < n {
		list := &lists[index(r.Float64() < g.options.TwoStep)][index(r.Float64() < g.options.Bare)]
		if len(*list) == 0 {
			return nil, fmt.Errorf("math: generator: got %d distinct %s problems, want %d; raise max_digits, lower bare, or ask for fewer", len(out), bucket, n)
		}
		at := r.IntN(len(*list))
		p, ok := g.fresh(r, (*list)[at], bucket, seen)
		if !ok {
			*list = slices.Delete(*list, at, at+1)
			continue
		}
		out = append(out, p)
	}
	return out, nil
}

// lists copies the template lists, for fill to strike out of.
func (g *Generator) lists() [2][2][]template {
	var out [2][2][]template
	for two := range out {
		for bare := range out[two] {
			out[two][bare] = slices.Clone(g.templates[two][bare])
		}
	}
	return out
}

// fresh draws a problem of the template that lies in the bucket and is not seen yet, and marks it seen.
func (g *Generator) fresh(r *rand.Rand, t template, bucket string, seen map[string]bool) (Problem, bool) {
	b := buckets()
	for range maxTries {
		p, ok := draw(r, t, g.options.MaxDigits)
		if !ok || b.Of(p.Text) != bucket {
			continue
		}
		if key := task.Normalize(p.Text); !seen[key] {
			seen[key] = true
			return p, true
		}
	}
	return Problem{}, false
}

// source is the random source of a bucket: the buckets do not depend on one another's sizes.
func source(seed uint64, bucket string) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "whale/math/generator/%d/%s", seed, bucket))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}
