package stats

import "fmt"

// McNemarResult compares two agents that each passed or failed the same examples.
type McNemarResult struct {
	OnlyFirst  int     `json:"only_first"`  // examples that only the first agent passed
	OnlySecond int     `json:"only_second"` // examples that only the second agent passed
	P          float64 `json:"p"`           // two-sided, exact
}

// McNemar runs the exact test (binomial, two-sided) of the hypothesis that both agents pass equally often. Only examples on
// which they differ count; when there are none, P is 1. The slices must have the same length; an empty pair is an
// [ErrEmpty].
func McNemar(first, second []bool) (McNemarResult, error) {
	if len(first) != len(second) {
		return McNemarResult{}, fmt.Errorf("mcnemar: got %d and %d outcomes, want the same examples", len(first), len(second))
	}
	if len(first) == 0 {
		return McNemarResult{}, ErrEmpty
	}
	var r McNemarResult
	for i := range first {
		switch {
		case first[i] && !second[i]:
			r.OnlyFirst++
		case second[i] && !first[i]:
			r.OnlySecond++
		}
	}
	n := r.OnlyFirst + r.OnlySecond
	r.P = min(1, 2*binomialCDF(min(r.OnlyFirst, r.OnlySecond), n, 0.5))
	return r, nil
}
