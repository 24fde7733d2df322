package stats

import (
	"fmt"
	"math"
)

// ReachChance is the chance that an agent that passed a number of the examples done so far passes at least reach of done + remaining:
// the posterior predictive of its remaining passes, a beta-binomial distribution with a flat prior, Beta(1, 1) (Gelman and others,
// Bayesian Data Analysis, section 2.4). Examples are exchangeable to it, so they should be met in random order.
func ReachChance(passed, done, remaining, reach int) (float64, error) {
	if passed < 0 || done < passed || remaining < 0 {
		return 0, fmt.Errorf("reach: got %d passed of %d done with %d remaining, want 0 <= passed <= done", passed, done, remaining)
	}
	need := reach - passed
	switch {
	case need <= 0:
		return 1, nil
	case need > remaining:
		return 0, nil
	}
	a, b := float64(passed+1), float64(done-passed+1)
	n := float64(remaining)
	base := logBeta(a, b)
	sum := 0.0
	for k := need; k <= remaining; k++ {
		x := float64(k)
		sum += math.Exp(-math.Log(n+1) - logBeta(x+1, n-x+1) + logBeta(a+x, b+n-x) - base)
	}
	return min(1, sum), nil
}

// logBeta is the logarithm of the beta function.
func logBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}
