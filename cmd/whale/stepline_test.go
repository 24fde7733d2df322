package main

import (
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/modelupdate"
)

func TestDescribeStep(t *testing.T) {
	for want, s := range map[string]modelupdate.StepResult{
		"  step 3   reward 0.250  learned from 64/256  loss 1.500  900 tokens trained":                       {Step: 2, Reward: 0.25, Accepted: 64, Rollouts: 256, Updates: 2, Loss: 1.5, Tokens: 900},
		"  step 1   reward 0.000  learned from 0/8  failed 3 (program: x)  nothing to learn from: no update": {Rollouts: 8, Failed: 3, Failure: "program: x"},
		"  step 1   reward 0.500  groups that differ 3/4  ratio 0.990  clipped 2.5%  80 tokens trained": {
			Reward: 0.5, Rollouts: 16, Accepted: 12, Updates: 1, Loss: -0.1, Tokens: 80,
			Policy: modelupdate.PolicyStats{Informative: 3, Equal: 1, PolicyStats: whale.PolicyStats{MeanRatio: 0.99, Clipped: 0.025}},
		},
		"  step 1   reward 0.500  groups that differ 3/4  ratio 1.000  clipped 0.0%  divergence 0.125  80 tokens trained": {
			Reward: 0.5, Updates: 1, Tokens: 80, Policy: modelupdate.PolicyStats{Informative: 3, Equal: 1, PolicyStats: whale.PolicyStats{MeanRatio: 1, KL: 0.125}},
		},
		"  step 1   reward 0.000  groups that differ 0/4  nothing to learn from: no update": {Policy: modelupdate.PolicyStats{Equal: 4}},
	} {
		if got := describeStep(&s); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
