package math

import (
	"context"
	"strings"
	"time"

	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
)

// Spec is what the workers of a sandboxed calculator may use under these limits.
func (l CalculatorLimits) Spec() sandbox.Spec {
	return calc.Spec(l.evaluation(), l.MemoryBytes, time.Duration(l.WallSeconds*float64(time.Second)))
}

func (l CalculatorLimits) evaluation() calc.Limits {
	return calc.Limits{Steps: l.Steps, Output: l.OutputBytes, Source: l.SourceBytes}
}

// Sandboxed gives the calculator that runs in the workers of a pool, which was made with l's Spec and stays the caller's to close.
func Sandboxed(pool *sandbox.Pool, l CalculatorLimits) (Calculator, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	c, err := calc.New(pool, l.evaluation())
	if err != nil {
		return nil, err
	}
	return sandboxed{c}, nil
}

type sandboxed struct{ calculator *calc.Calculator }

// Do passes on what the program did; a worker that broke down over it, twice, is an error with the *sandbox.Violation in it.
func (s sandboxed) Do(ctx context.Context, src string) (output, errText string, err error) {
	r, err := s.calculator.Do(ctx, src)
	return strings.TrimSuffix(r.Output, "\n"), r.Error, err // as a shell's $(…) would
}
