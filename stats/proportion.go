package stats

import (
	"fmt"
	"math"
)

// Wilson returns Wilson's score interval for k successes in n independent trials (Wilson, 1927). No trials are an
// [ErrEmpty].
func Wilson(k, n int, level float64) (low, high float64, err error) {
	if err := checkTrials(k, n, level); err != nil {
		return 0, 0, err
	}
	low, high = wilson(float64(k)/float64(n), float64(n), level)
	return low, high, nil
}

func wilson(p, n, level float64) (low, high float64) {
	z := math.Sqrt2 * math.Erfinv(level)
	z2 := z * z / n
	center := (p + z2/2) / (1 + z2)
	half := z / (1 + z2) * math.Sqrt(p*(1-p)/n+z2/(4*n))
	low, high = max(0, center-half), min(1, center+half)
	// At the ends the formula gives the end but for rounding.
	if p == 0 {
		low = 0
	}
	if p == 1 {
		high = 1
	}
	return low, high
}

// ClopperPearson returns the exact interval for k successes in n independent trials (Clopper and Pearson, 1934): it covers
// at least as often as level says, and is wider than Wilson's.
func ClopperPearson(k, n int, level float64) (low, high float64, err error) {
	if err := checkTrials(k, n, level); err != nil {
		return 0, 0, err
	}
	tail := (1 - level) / 2
	low, high = 0, 1
	if k > 0 {
		// The p for which k or more successes have probability tail.
		low = bisect(func(p float64) bool { return 1-binomialCDF(k-1, n, p) >= tail })
	}
	if k < n {
		// The p for which k or fewer have.
		high = bisect(func(p float64) bool { return binomialCDF(k, n, p) <= tail })
	}
	return low, high, nil
}

func checkTrials(k, n int, level float64) error {
	if n == 0 {
		return ErrEmpty
	}
	if n < 0 || k < 0 || k > n {
		return fmt.Errorf("proportion: got %d successes in %d trials, want 0 to %d", k, n, n)
	}
	if !(level > 0 && level < 1) {
		return fmt.Errorf("confidence level: got %v, want between 0 and 1", level)
	}
	return nil
}

// bisect returns the p in [0, 1] from which on the condition holds.
func bisect(holds func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		mid := (low + high) / 2
		if holds(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return (low + high) / 2
}

// binomialCDF is the probability of at most k successes in n trials of probability p.
func binomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n, p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	logP, logQ := math.Log(p), math.Log1p(-p)
	logN, _ := math.Lgamma(float64(n + 1))
	sum := 0.0
	for i := 0; i <= k; i++ {
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(logN - a - b + float64(i)*logP + float64(n-i)*logQ)
	}
	return min(1, sum)
}
