package whale

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestLossValidate(t *testing.T) {
	for _, tc := range []struct {
		loss Loss
		want string // in the error; none if empty
	}{
		{Loss{}, ""},
		{Loss{Kind: LossCrossEntropy}, ""},
		{Loss{Kind: LossImportance}, ""},
		{Loss{Kind: LossImportance, KL: 0.1}, ""},
		{Loss{Kind: LossPPO, ClipLow: 0.2, ClipHigh: 0.28}, ""},
		{Loss{Kind: LossPPO, ClipLow: 1, ClipHigh: 5, KL: 1}, ""},
		{Loss{Kind: "cispo"}, `loss: got "cispo", want cross_entropy, importance_sampling or ppo`},
		{Loss{Kind: LossPPO}, "clip_low: got 0"},
		{Loss{Kind: LossPPO, ClipLow: 0.2}, "clip_high: got 0"},
		{Loss{Kind: LossPPO, ClipLow: 1.1, ClipHigh: 0.2}, "clip_low: got 1.1"},
		{Loss{Kind: LossPPO, ClipLow: math.NaN(), ClipHigh: 0.2}, "clip_low: got NaN"},
		{Loss{Kind: LossPPO, ClipLow: 0.2, ClipHigh: math.Inf(1)}, "clip_high: got +Inf"},
		{Loss{Kind: LossPPO, ClipLow: 0.2, ClipHigh: 0.2, KL: -1}, "kl: got -1"},
		{Loss{Kind: LossPPO, ClipLow: 0.2, ClipHigh: 0.2, KL: math.NaN()}, "kl: got NaN"},
		{Loss{Kind: LossImportance, ClipLow: 0.2}, "only ppo clips"},
		{Loss{ClipHigh: 0.2}, "only ppo clips"},
		{Loss{KL: 0.1}, "only policy gradients have it"},
	} {
		err := tc.loss.Validate()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: got %v, want %q", tc.loss, err, tc.want)
		}
	}
}

// TestTrainStatsOfLikelihood: what trainers keep of a likelihood's step has the keys that it always had.
func TestTrainStatsOfLikelihood(t *testing.T) {
	for want, s := range map[string]TrainStats{
		`{"loss":1,"tokens":2,"grad_norm":3}`:                                              {Loss: 1, Tokens: 2, GradNorm: 3},
		`{"loss":1,"tokens":2,"grad_norm":3,"policy":{"mean_ratio":1,"clipped":0,"kl":0}}`: {Loss: 1, Tokens: 2, GradNorm: 3, Policy: PolicyStats{MeanRatio: 1}},
	} {
		if got, err := json.Marshal(s); err != nil || string(got) != want {
			t.Errorf("got %s %v, want %s", got, err, want)
		}
	}
}
