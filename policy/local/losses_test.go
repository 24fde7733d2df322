package local

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

var ppo = whale.Loss{Kind: whale.LossPPO, ClipLow: 0.2, ClipHigh: 0.2}

// policyBatch gives a training batch scores of the trainer's present weights as log-probabilities, and advantages.
func policyBatch(t *testing.T, tr *Trainer, b *Bundle, advantages ...float32) []whale.Sequence {
	t.Helper()
	batch := trainingBatch(b, "What is 12 + 30?", "The answer is 42.")[:len(advantages)]
	dir := t.TempDir()
	if err := tr.Snapshot(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	s, err := tr.Scorer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := s.Score(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for i := range batch {
		batch[i].LogProbs = scores[i]
		batch[i].Advantages = slices.Repeat(advantages[i:i+1], len(batch[i].Tokens))
	}
	return batch
}

func apply(t *testing.T, tr *Trainer, op string, batch []whale.Sequence, l whale.Loss) whale.TrainStats {
	t.Helper()
	if err := tr.Accumulate(t.Context(), op, batch, l); err != nil {
		t.Fatal(err)
	}
	stats, err := tr.Step(t.Context(), op, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestAdvantageOfOneIsLikelihood: right after sampling, a policy gradient of advantage 1 is fine-tuning, to the bit, of all weights and of an
// adapter.
func TestAdvantageOfOneIsLikelihood(t *testing.T) {
	b := testBase(t)
	for name, fresh := range map[string]func() *Trainer{
		"all weights": func() *Trainer { return NewTrainer(b, adam(), Options{}) },
		"adapter":     func() *Trainer { return loraTrainer(t, b) },
	} {
		sft, pg := fresh(), fresh()
		for _, op := range []string{"1", "2"} {
			batch := policyBatch(t, pg, b, 1, 1)
			want := apply(t, sft, op, batch, whale.Loss{})
			got := apply(t, pg, op, batch, ppo)
			if got.Loss != -1 || got.Tokens != want.Tokens || got.GradNorm != want.GradNorm || got.Policy != (whale.PolicyStats{MeanRatio: 1}) || want.Policy != (whale.PolicyStats{}) {
				t.Errorf("%s: got %+v, want ratios of 1 and the gradient of %+v", name, got, want)
			}
			if sft.Weights() != pg.Weights() {
				t.Errorf("%s: weights differ after step %s", name, op)
			}
		}
	}
}

// TestPolicyStepsAreCounted: ratios, clips and the divergence of a second step on the same batch, and no step applied twice.
func TestPolicyStepsAreCounted(t *testing.T) {
	b := testBundle(t)
	tr := NewTrainer(b, adam(), Options{})
	batch := policyBatch(t, tr, b, 1, -1)
	for i := range batch {
		batch[i].Reference = batch[i].LogProbs
	}
	l := ppo
	l.KL = 0.1
	first := apply(t, tr, "a", batch, l)
	if p := first.Policy; p.MeanRatio != 1 || p.Clipped != 0 || p.KL != 0 {
		t.Errorf("first: got %+v, want ratios of 1 and no divergence", p)
	}
	for range 20 {
		again := apply(t, tr, "a", batch, l)
		if again != first {
			t.Fatalf("repeated: got %+v, want %+v", again, first)
		}
	}
	var last whale.TrainStats
	for _, op := range strings.Split("bcdefghijklm", "") {
		last = apply(t, tr, op, batch, l)
	}
	if p := last.Policy; p.MeanRatio == 1 || p.Clipped <= 0 || p.Clipped >= 1 || p.KL <= 0 || last.Loss >= first.Loss || math.IsNaN(last.Loss) {
		t.Errorf("last: got %+v after %+v, want ratios that left 1, some of them clipped, a divergence, and a lower loss", last, first)
	}
}

func TestAccumulateRefusesLoss(t *testing.T) {
	b := testBundle(t)
	tr := NewTrainer(b, adam(), Options{})
	for want, tc := range map[string]struct {
		loss  whale.Loss
		batch []whale.Sequence
	}{
		`loss: got "ppo2"`:                        {whale.Loss{Kind: "ppo2"}, nil},
		"trainer: x: accumulate: sequence 0: log": {ppo, trainingBatch(b, "12")},
	} {
		if err := tr.Accumulate(t.Context(), "x", tc.batch, tc.loss); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := tr.CheckLoss(ppo); err != nil {
		t.Error(err)
	}
}

// TestScorerKeepsItsWeights: scores are those of a snapshot, or of what training began with, whatever was trained since.
func TestScorerKeepsItsWeights(t *testing.T) {
	b := testBase(t)
	for name, fresh := range map[string]func() *Trainer{
		"all weights": func() *Trainer { return NewTrainer(b, adam(), Options{}) },
		"adapter":     func() *Trainer { return loraTrainer(t, b) },
	} {
		t.Run(name, func(t *testing.T) {
			tr := fresh()
			batch := trainingBatch(b, "What is 12 + 30?", "The answer is 42.")
			score := func(dir string) ([][]float32, whale.WeightsRef) {
				s, err := tr.Scorer(t.Context(), dir)
				if err != nil {
					t.Fatal(err)
				}
				out, err := s.Score(t.Context(), batch)
				if err != nil {
					t.Fatal(err)
				}
				return out, s.Weights()
			}
			first, ref := score("")
			if ref != b.Weights() {
				t.Errorf("got the weights %s, want those of the bundle", ref.ID.Short())
			}
			update(t, tr, b, "1")
			dir, one := t.TempDir(), tr.Weights()
			if err := tr.Snapshot(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			second, ref := score(dir)
			if ref != one || reflect.DeepEqual(first, second) {
				t.Errorf("snapshot: got the weights %s, want %s, and other scores than before", ref.ID.Short(), one.ID.Short())
			}
			var sum, want float64
			for i, s := range batch {
				lps, err := tr.bundle.Model.LogProbs(nil, s.Tokens)
				if err != nil {
					t.Fatal(err)
				}
				for k := range lps {
					sum, want = sum+float64(second[i][k]), want+float64(lps[k])
				}
			}
			if sum != want {
				t.Errorf("scores of the snapshot: got %g, want %g as the trainer's own", sum, want)
			}
			update(t, tr, b, "2")
			if again, _ := score(dir); !reflect.DeepEqual(again, second) {
				t.Error("the snapshot's scores moved with the trainer")
			}
			if err := tr.Restore(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			if again, ref := score(""); !reflect.DeepEqual(again, first) || ref != b.Weights() {
				t.Error("what training began with moved with the trainer")
			}
			if _, err := tr.Scorer(t.Context(), t.TempDir()); err == nil {
				t.Error("an empty folder was opened")
			}
		})
	}
}
