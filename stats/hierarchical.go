package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// This file compares methods that were each run with several seeds and evaluated on one test set. What is done is fixed here, in
// advance of any result:
//
//   - A cell is one example under one run, and holds the mean over its draws. A method is a matrix of cells [seeds][examples]; its value is
//     the mean of the cells.
//   - A resample draws as many seeds as there are, with replacement, and as many examples, with replacement. The drawn examples are the
//     same for all drawn seeds, because all runs were evaluated on the same examples: an example that is hard is hard for each of them, and
//     drawing anew for each seed would count it as so many independent ones (Owen, The pigeonhole bootstrap, 2007). In simulations of
//     such data (100 examples, mean@8, 3 to 10 runs that differ by 0 to 4 points), intervals that draw anew for each seed held the truth in 69
//     to 85% of the cases, these in 95 to 97%. Where few runs differ by much more than examples explain, no bootstrap knows it: 85% with
//     three runs and 79% with two that differ by 10 points, 200 examples.
//   - The seeds' means are spread around the grand mean by √(S/(S-1)) within the resamples, because a bootstrap of S values sees only
//     (S-1)/S of their variance (Davison and Hinkley, Bootstrap Methods and their Application, 1997), which is a third too little with three.
//   - The interval is the 2.5% and 97.5% percentiles of [Resamples] resamples, cut to what is possible.
//   - Two methods are compared by the differences of their cells, seed by seed and example by example, with the same resamples for all
//     comparisons of one size. The p-value is that of the percentile interval that just reaches 0, two-sided:
//     min(1, 2(1+c)/(1+R)) with R resamples, of which c lie at or beyond 0 on the side that is rarer. It is never 0, and it is
//     below 0.05 where the interval excludes 0 (but for one resample at the edge).
//
// With one seed nothing is known about the spread between runs: the interval is over examples alone, and the caller has to say so
// (Spread.Seeds is there for it). Cells or differences that are all equal give Wilson's interval for as many trials as there are examples,
// with the p-value of the score test that it inverts. A single cell gives all that is possible.

// Spread is an estimate over seeds and examples with its 95% interval.
type Spread struct {
	Interval
	Seeds    int // 1: the interval is over examples alone
	Examples int
}

// Compared is the difference of two methods.
type Compared struct {
	Spread
	P      float64   // two-sided; of the hypothesis that the difference is 0
	BySeed []float64 // the difference within each seed
}

// SeedsMean is the mean of cells [seeds][examples], each in [0, 1], with its interval over seeds and examples. No cells at all are an [ErrEmpty].
func SeedsMean(cells [][]float64, seed uint64) (Spread, error) {
	if err := checkCells("mean over seeds", cells); err != nil {
		return Spread{}, err
	}
	out := Spread{Seeds: len(cells), Examples: len(cells[0])}
	m := grandMean(cells)
	switch {
	case out.Examples == 1 && out.Seeds == 1:
		out.Interval = Interval{m, 0, 1}
	case flat(cells):
		low, high := wilson(m, float64(out.Examples), level)
		out.Interval = Interval{m, low, high}
	default:
		out.Interval = percentiles(m, resample(cells, seed), 0, 1)
	}
	return out, nil
}

// SeedsDifference is the mean of a minus that of b, paired by seed and example: row s of both is one seed, column x one example.
func SeedsDifference(a, b [][]float64, seed uint64) (Compared, error) {
	if err := checkCells("difference over seeds", a); err != nil {
		return Compared{}, err
	}
	if err := checkCells("difference over seeds", b); err != nil {
		return Compared{}, err
	}
	if len(a) != len(b) || len(a[0]) != len(b[0]) {
		return Compared{}, fmt.Errorf("difference over seeds: got %d seeds of %d examples and %d of %d, want the same ones",
			len(a), len(a[0]), len(b), len(b[0]))
	}
	d := make([][]float64, len(a))
	out := Compared{Spread: Spread{Seeds: len(a), Examples: len(a[0])}, BySeed: make([]float64, len(a))}
	for s := range d {
		d[s] = make([]float64, len(a[s]))
		for x := range d[s] {
			d[s][x] = a[s][x] - b[s][x]
		}
		out.BySeed[s] = mean(d[s])
	}
	m := grandMean(d)
	switch {
	case out.Examples == 1 && out.Seeds == 1:
		out.Interval, out.P = Interval{m, -1, 1}, 1
	case flat(d):
		low, high := wilson((m+1)/2, float64(out.Examples), level) // as a proportion
		// The test that Wilson's interval inverts.
		out.Interval, out.P = Interval{m, 2*low - 1, 2*high - 1}, math.Erfc(math.Abs(m)*math.Sqrt(float64(out.Examples)/2))
	default:
		means := resample(d, seed)
		out.Interval, out.P = percentiles(m, means, -1, 1), beyondZero(means)
	}
	return out, nil
}

// CellMeans averages the draws of rewards [examples][draws] of one run to its row of cells, checking them as [MeanInterval] does.
func CellMeans(rewards [][]float64) ([]float64, error) { return exampleMeans(rewards) }

func checkCells(what string, cells [][]float64) error {
	if len(cells) == 0 || len(cells[0]) == 0 {
		return fmt.Errorf("%s: %w", what, ErrEmpty)
	}
	for s, row := range cells {
		if len(row) != len(cells[0]) {
			return fmt.Errorf("%s: seed %d: got %d examples, want %d as of the first", what, s+1, len(row), len(cells[0]))
		}
		for x, v := range row {
			if !(v >= 0 && v <= 1) { // also no number
				return fmt.Errorf("%s: seed %d, example %d: got %v, want 0 to 1", what, s+1, x+1, v)
			}
		}
	}
	return nil
}

func grandMean(cells [][]float64) float64 {
	sum := 0.0
	for _, row := range cells {
		sum += mean(row)
	}
	return sum / float64(len(cells))
}

// flat says whether all cells are equal up to rounding.
func flat(cells [][]float64) bool {
	low, high := cells[0][0], cells[0][0]
	for _, row := range cells {
		low, high = min(low, slices.Min(row)), max(high, slices.Max(row))
	}
	return allEqual([]float64{low, high})
}

// resample gives the sorted means of [Resamples] resamples of cells [seeds][examples].
func resample(cells [][]float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 0x73_65_65_64_73))
	seeds, examples := len(cells), len(cells[0])
	// The share of a seed's mean that is added for the variance that a bootstrap of few values lacks.
	extra := make([]float64, seeds)
	if seeds > 1 {
		grand := grandMean(cells)
		for s := range extra {
			extra[s] = (math.Sqrt(float64(seeds)/float64(seeds-1)) - 1) * (mean(cells[s]) - grand)
		}
	}
	times := make([]float64, examples) // how often the resample holds each example
	means := make([]float64, Resamples)
	for r := range means {
		clear(times)
		for x := 0; x < examples; x += 2 { // two indices a random number; their bias is examples in 2^32
			u := rng.Uint64()
			times[(u>>32)*uint64(examples)>>32]++
			if x+1 < examples {
				times[(u&0xffffffff)*uint64(examples)>>32]++
			}
		}
		sum := 0.0
		for range seeds {
			s := rng.IntN(seeds)
			sum += dot(times, cells[s])/float64(examples) + extra[s]
		}
		means[r] = sum / float64(seeds)
	}
	slices.Sort(means)
	return means
}

// dot keeps four sums, which a processor adds at once.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+3 < len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// percentiles is the interval of sorted means, cut to [least, most]. It holds the estimate, also where the resamples are few values.
func percentiles(estimate float64, means []float64, least, most float64) Interval {
	low, high := means[len(means)*25/1000], means[len(means)*975/1000-1]
	return Interval{Mean: estimate, Low: max(least, min(low, estimate)), High: min(most, max(high, estimate))}
}

// beyondZero is the two-sided p-value of sorted means.
func beyondZero(means []float64) float64 {
	const rounding = 1e-12 // a sum of differences that cancel may miss 0 by this
	below, above := 0, 0
	for _, m := range means {
		if m <= rounding {
			below++
		}
		if m >= -rounding {
			above++
		}
	}
	return min(1, 2*float64(1+min(below, above))/float64(1+len(means)))
}
