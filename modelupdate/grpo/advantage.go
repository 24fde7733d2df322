package grpo

import "math"

// Advantages gives what each reward of a group is above the group's mean; normalised, in units of the group's standard deviation (of a
// sample, so over n-1). It gives nil where all rewards are the same.
func Advantages(rewards []float64, normalise bool) []float64 {
	mean, same := 0.0, true
	for _, r := range rewards {
		mean += r / float64(len(rewards))
		same = same && r == rewards[0]
	}
	if same {
		return nil
	}
	out := make([]float64, len(rewards))
	square := 0.0
	for i, r := range rewards {
		out[i] = r - mean
		square += out[i] * out[i]
	}
	if normalise {
		deviation := math.Sqrt(square / float64(len(rewards)-1))
		for i := range out {
			out[i] /= deviation
		}
	}
	return out
}
