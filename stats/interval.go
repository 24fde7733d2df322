package stats

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Resamples is the number of bootstrap resamples behind an interval.
const Resamples = 10_000

// Interval is an estimate with its 95% interval.
type Interval struct {
	Mean, Low, High float64
}

// MeanInterval is mean@k of rewards [examples][draws]: averaged per example, then over examples; with the 95% percentile interval of a
// bootstrap over examples. Every example needs at least one draw.
func MeanInterval(rewards [][]float64, seed uint64) (Interval, error) {
	means, err := exampleMeans(rewards)
	if err != nil {
		return Interval{}, err
	}
	return bootstrap(means, seed), nil
}

// DifferenceInterval is mean@k of a minus that of b on the same examples, paired by example.
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
	return bootstrap(d, seed), nil
}

func exampleMeans(rewards [][]float64) ([]float64, error) {
	if len(rewards) == 0 {
		return nil, errors.New("mean@k: got no examples")
	}
	means := make([]float64, len(rewards))
	for i, draws := range rewards {
		if len(draws) == 0 {
			return nil, fmt.Errorf("mean@k: example %d of %d has no draws", i+1, len(rewards))
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
