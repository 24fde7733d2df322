package stats

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// ErrEmpty says that there is nothing to compute from.
var ErrEmpty = errors.New("no rewards")

const (
	// Resamples is the number of bootstrap resamples behind an interval.
	Resamples = 10_000

	// level is the confidence of the intervals of means and differences.
	level = 0.95
)

// Interval is an estimate with its 95% interval.
type Interval struct {
	Mean, Low, High float64
}

// MeanInterval is mean@k of rewards [examples][draws]: averaged per example, then over examples; with the 95% percentile interval of a
// bootstrap over examples (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). Every example needs at least
// one draw and every reward is in [0, 1]; no example at all is an [ErrEmpty].
func MeanInterval(rewards [][]float64, seed uint64) (Interval, error) {
	means, err := exampleMeans(rewards)
	if err != nil {
		return Interval{}, err
	}
	switch m := mean(means); {
	case len(means) == 1:
		return Interval{m, 0, 1}, nil
	case allEqual(means):
		low, high := wilson(m, float64(len(means)), level)
		return Interval{m, low, high}, nil
	}
	return bootstrap(means, seed), nil
}

// DifferenceInterval is mean@k of a minus that of b on the same examples, paired by example: row i of both is one example. The
// interval is as in [MeanInterval], of the differences.
func DifferenceInterval(a, b [][]float64, seed uint64) (Interval, error) {
	ma, err := exampleMeans(a)
	if err != nil {
		return Interval{}, err
	}
	mb, err := exampleMeans(b)
	if err != nil {
		return Interval{}, err
	}
	if len(ma) != len(mb) {
		return Interval{}, fmt.Errorf("paired difference: got %d and %d examples, want the same ones", len(ma), len(mb))
	}
	d := make([]float64, len(ma))
	for i := range d {
		d[i] = ma[i] - mb[i]
	}
	switch m := mean(d); {
	case len(d) == 1:
		return Interval{m, -1, 1}, nil
	case allEqual(d):
		// A difference in [-1, 1] taken as a proportion in [0, 1].
		low, high := wilson((m+1)/2, float64(len(d)), level)
		return Interval{m, 2*low - 1, 2*high - 1}, nil
	}
	return bootstrap(d, seed), nil
}

// exampleMeans checks a matrix and returns the mean of each row.
func exampleMeans(rewards [][]float64) ([]float64, error) {
	if len(rewards) == 0 {
		return nil, fmt.Errorf("mean@k: %w", ErrEmpty)
	}
	means := make([]float64, len(rewards))
	for i, draws := range rewards {
		if len(draws) == 0 {
			return nil, fmt.Errorf("mean@k: example %d of %d has no draws: %w", i+1, len(rewards), ErrEmpty)
		}
		for j, r := range draws {
			if !(r >= 0 && r <= 1) { // also no number
				return nil, fmt.Errorf("mean@k: example %d, draw %d: reward: got %v, want 0 to 1", i+1, j+1, r)
			}
		}
		means[i] = mean(draws)
	}
	return means, nil
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// allEqual takes values in [-1, 1] for equal when they differ by rounding alone: 0.3-0.2 is not 0.2-0.1. Means of draws that really
// differ do so by more than one over the product of their numbers.
func allEqual(xs []float64) bool {
	const rounding = 1e-12
	return slices.Max(xs)-slices.Min(xs) <= rounding
}

// bootstrap resamples values with replacement and takes the 2.5% and 97.5% percentiles of the mean.
func bootstrap(values []float64, seed uint64) Interval {
	rng := rand.New(rand.NewPCG(seed, 0x62_6f_6f_74))
	n := len(values)
	means := make([]float64, Resamples)
	for r := range means {
		sum := 0.0
		for range n {
			sum += values[rng.IntN(n)]
		}
		means[r] = sum / float64(n)
	}
	slices.Sort(means)
	return Interval{Mean: mean(values), Low: means[Resamples*25/1000], High: means[Resamples*975/1000-1]}
}
