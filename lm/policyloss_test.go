package lm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// policySequences are random sequences whose old and reference log-probabilities lie around the model's own, and whose advantages have
// both signs and are 0 at times.
func policySequences(t testing.TB, m *Model, seed uint64, referenced bool, lengths ...int) []PolicySequence {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	var out []PolicySequence
	for _, s := range randomSequences(seed, m.cfg.Vocab, lengths...) {
		lps, err := m.LogProbs(nil, s.Tokens)
		if err != nil {
			t.Fatal(err)
		}
		p := PolicySequence{Sequence: s, LogProbs: slices.Clone(lps), Advantages: make([]float32, len(lps))}
		if referenced {
			p.Reference = slices.Clone(lps)
		}
		advantage := []float32{-1.5, -0.5, 0, 0.7, 2}[rng.IntN(5)]
		for i := range lps {
			p.LogProbs[i] -= []float32{-0.8, -0.5, 0, 0.5, 0.9}[rng.IntN(5)] // away from the kinks of the losses below, where there is no slope
			p.Advantages[i] = advantage
			if referenced {
				p.Reference[i] += float32(0.5 * rng.NormFloat64())
			}
		}
		out = append(out, p)
	}
	return out
}

// policyByHand computes the loss from its definition, one token at a time, from log-probabilities of another path.
func policyByHand(t testing.TB, m *Model, seqs []PolicySequence, l PolicyLoss) (s PolicySums) {
	t.Helper()
	for _, q := range seqs {
		lps, err := m.LogProbs(nil, q.Tokens)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range q.Weights {
			if w == 0 {
				continue
			}
			a := float64(q.Advantages[i])
			r := math.Exp(float64(lps[i])) / math.Exp(float64(q.LogProbs[i]))
			gain := r * a
			if l.Clip {
				clipped := r
				if r < 1-l.ClipLow {
					clipped = 1 - l.ClipLow
				}
				if r > 1+l.ClipHigh {
					clipped = 1 + l.ClipHigh
				}
				if clipped*a < gain {
					gain = clipped * a
					s.Clipped += float64(w)
				}
			}
			loss := -gain
			if q.Reference != nil {
				ratio := math.Exp(float64(q.Reference[i])) / math.Exp(float64(lps[i]))
				kl := ratio - math.Log(ratio) - 1
				loss += l.KL * kl
				s.KL += float64(w) * kl
			}
			s.Loss += float64(w) * loss
			s.Ratio += float64(w) * r
			s.Weight += float64(w)
		}
	}
	return s
}

var policyLosses = map[string]PolicyLoss{
	"importance":     {},
	"importance, kl": {KL: 0.3},
	"clipped":        {Clip: true, ClipLow: 0.2, ClipHigh: 0.2},
	"clipped, kl":    {Clip: true, ClipLow: 0.2, ClipHigh: 0.3, KL: 0.1},
	"mostly kl":      {Clip: true, ClipLow: 0.3, ClipHigh: 0.2, KL: 3},
}

// TestPolicyGradients compares sums with those by hand, and every tensor's gradient with central differences of them.
func TestPolicyGradients(t *testing.T) {
	for name, l := range policyLosses {
		t.Run(name, func(t *testing.T) {
			m := newModel(t, tinyConfig(), 3)
			seqs := policySequences(t, m, 11, l.KL > 0, 40, 7, 2, 23, 30, 18)
			tr := NewTrainer(m, nil, DefaultAdamW())
			got, err := tr.AccumulatePolicy(t.Context(), seqs, l)
			if err != nil {
				t.Fatal(err)
			}
			want := policyByHand(t, m, seqs, l)
			for _, x := range []struct {
				what      string
				got, want float64
			}{{"loss", got.Loss, want.Loss}, {"weight", got.Weight, want.Weight}, {"ratio", got.Ratio, want.Ratio}, {"clipped", got.Clipped, want.Clipped}, {"kl", got.KL, want.KL}} {
				if math.Abs(x.got-x.want) > 1e-4*(1+math.Abs(x.want)) {
					t.Errorf("%s: got %g, want %g by hand", x.what, x.got, x.want)
				}
			}
			if l.Clip && (got.Clipped == 0 || got.Clipped == got.Weight) {
				t.Errorf("clipped: got %g of %g, want some and not all: the test shows nothing", got.Clipped, got.Weight)
			}
			rng := rand.New(rand.NewPCG(5, 5))
			for _, s := range m.cfg.layout() {
				w, g := m.w.flat[s.off:s.off+s.n], tr.grads.flat[s.off:s.off+s.n]
				for range 2 {
					dir := make([]float64, s.n)
					for i := range dir {
						dir[i] = rng.NormFloat64()
					}
					checkDirection(t, s.name, w, g, dir, func() float64 { return policyByHand(t, m, seqs, l).Loss })
				}
			}
		})
	}
}

// TestPolicyEqualsLikelihood: where the ratio is 1 and the advantage 1, the gradient is that of cross-entropy, to the bit, and so are the
// weights after a step; a divergence from what is the same has none.
func TestPolicyEqualsLikelihood(t *testing.T) {
	for _, tied := range []bool{false, true} {
		cfg := tinyConfig()
		cfg.TieEmbeddings = tied
		lengths := []int{60, 5, 110, 2, 33, 70}
		m := newModel(t, cfg, 4)
		plain := randomSequences(1, cfg.Vocab, lengths...)
		scores, err := m.ScoreSequences(t.Context(), nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		var seqs []PolicySequence
		for i, s := range plain {
			ones := make([]float32, len(s.Tokens))
			for i := range ones {
				ones[i] = 1
			}
			seqs = append(seqs, PolicySequence{Sequence: s, LogProbs: scores[i], Advantages: ones, Reference: scores[i]})
		}
		a, b := NewTrainer(m, nil, DefaultAdamW()), NewTrainer(newModel(t, cfg, 4), newPool(t, 2), DefaultAdamW())
		loss := accumulate(t, a, plain)
		sums, err := b.AccumulatePolicy(t.Context(), seqs, PolicyLoss{Clip: true, ClipLow: 0.2, ClipHigh: 0.2, KL: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		if sums.Weight != loss.Weight || sums.Ratio != sums.Weight || sums.KL != 0 || sums.Clipped != 0 || sums.Loss != -sums.Weight {
			t.Errorf("sums: got %+v, want ratios of 1 over weight %g", sums, loss.Weight)
		}
		if !slices.Equal(a.grads.flat, b.grads.flat) {
			t.Error("gradients differ")
		}
		step(t, a, 1e-2)
		step(t, b, 1e-2)
		if a.Model().Hash() != b.Model().Hash() {
			t.Error("weights after a step differ")
		}
	}
}

// TestPolicyAdvantageScales: at ratio 1 an advantage is a weight that may be negative, whatever the micro-batches.
func TestPolicyAdvantageScales(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 4)
	plain := randomSequences(2, cfg.Vocab, 30, 40)
	scores, err := m.ScoreSequences(t.Context(), nil, plain)
	if err != nil {
		t.Fatal(err)
	}
	a := NewTrainer(m, nil, DefaultAdamW())
	scaled := make([]Sequence, 1)
	scaled[0] = Sequence{plain[0].Tokens, slices.Clone(plain[0].Weights)}
	for i := range scaled[0].Weights {
		scaled[0].Weights[i] *= 3
	}
	accumulate(t, a, scaled)
	up := slices.Clone(a.grads.flat)
	a.discard()
	accumulate(t, a, plain[1:])
	for i := range up {
		up[i] -= a.grads.flat[i]
	}
	b, err := NewTrainerWith(m, nil, DefaultAdamW(), TrainerOptions{MicroBatch: 1})
	if err != nil {
		t.Fatal(err)
	}
	fill := func(n int, v float32) []float32 { return slices.Repeat([]float32{v}, n) }
	if _, err := b.AccumulatePolicy(t.Context(), []PolicySequence{
		{Sequence: plain[0], LogProbs: scores[0], Advantages: fill(30, 3)},
		{Sequence: plain[1], LogProbs: scores[1], Advantages: fill(40, -1)},
	}, PolicyLoss{}); err != nil {
		t.Fatal(err)
	}
	for i, g := range b.grads.flat {
		if math.Abs(float64(g-up[i])) > 1e-4*(1+math.Abs(float64(up[i]))) {
			t.Fatalf("gradient %d: got %g, want %g", i, g, up[i])
		}
	}
}

// TestClip is the table of Schulman et al.: the clip is active only where moving on would be rewarded.
func TestClip(t *testing.T) {
	l := PolicyLoss{Clip: true, ClipLow: 0.2, ClipHigh: 0.3}
	for _, tc := range []struct {
		ratio, advantage float64
		loss, slope      float64
		clipped          bool
	}{
		{1, 2, -2, -2, false},
		{1.25, 2, -2.5, -2.5, false},
		{1.5, 2, -2.6, 0, true}, // far enough up
		{0.5, 2, -1, -1, false}, // below, and wanted up
		{0.5, -2, 1.6, 0, true}, // far enough down
		{0.9, -2, 1.8, 1.8, false},
		{1.5, -2, 3, 3, false}, // above, and wanted down
		{1.5, 0, 0, 0, false},
	} {
		got := l.at(math.Log(tc.ratio)-1, -1, tc.advantage)
		if math.Abs(got.loss-tc.loss) > 1e-12 || math.Abs(got.slope-tc.slope) > 1e-12 || got.clipped != tc.clipped || math.Abs(got.ratio-tc.ratio) > 1e-12 {
			t.Errorf("ratio %g, advantage %g: got %+v, want loss %g, slope %g, clipped %v", tc.ratio, tc.advantage, got, tc.loss, tc.slope, tc.clipped)
		}
	}
}

func TestPolicyLoRA(t *testing.T) {
	cfg := tinyConfig()
	l := allTargets(2)
	run := func(recompute bool) string {
		tr := loraTrainer(t, newModel(t, cfg, 3), TrainerOptions{Recompute: recompute, MicroBatch: 50, LoRA: &l})
		for k := range 2 {
			if _, err := tr.AccumulatePolicy(t.Context(), policySequences(t, tr.Model(), uint64(k), true, 30, 12, 60), policyLosses["clipped, kl"]); err != nil {
				t.Fatal(err)
			}
			step(t, tr, 0.01)
		}
		return tr.Model().Hash()
	}
	if a, b := run(false), run(true); a != b || a == newModel(t, cfg, 3).Hash() {
		t.Error("recomputed training of an adapter differs, or changes nothing")
	}
}

func TestPolicyRefuses(t *testing.T) {
	m := newModel(t, tinyConfig(), 3)
	for want, tc := range map[string]struct {
		spoil func(s []PolicySequence)
		loss  PolicyLoss
	}{
		"sequence 1: log-probabilities: got 4": {func(s []PolicySequence) { s[1].LogProbs = s[1].LogProbs[:4] }, PolicyLoss{}},
		"sequence 0: advantages: got 0":        {func(s []PolicySequence) { s[0].Advantages = nil }, PolicyLoss{}},
		"sequence 0: reference: got one: false": {func(s []PolicySequence) {
			s[0].Reference, s[1].Reference = nil, nil
		}, PolicyLoss{KL: 0.1}},
		"sequence 1: reference: got one: false": {func(s []PolicySequence) { s[1].Reference = nil }, PolicyLoss{}},
		"advantages: token":                     {func(s []PolicySequence) { s[0].Advantages = slices.Repeat([]float32{float32(math.NaN())}, 9) }, PolicyLoss{}},
		"policy loss: got":                      {func(s []PolicySequence) { s[0].LogProbs = slices.Repeat([]float32{-2e3}, 9) }, PolicyLoss{}},
		"finite numbers":                        {func(s []PolicySequence) { s[0].Reference = slices.Repeat([]float32{200}, 9) }, PolicyLoss{KL: 1}},
	} {
		tr := NewTrainer(m, nil, DefaultAdamW())
		seqs := policySequences(t, m, 1, true, 9, 9)
		tc.spoil(seqs)
		_, err := tr.AccumulatePolicy(t.Context(), seqs, tc.loss)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q", err, want)
		}
		if _, err := tr.Step(1e-3); err == nil {
			t.Errorf("%s: stepped on what was refused", want)
		}
		accumulate(t, tr, randomSequences(1, m.cfg.Vocab, 9)) // and goes on
		for _, g := range tr.grads.flat {
			if !finite(float64(g)) {
				t.Fatalf("%s: a gradient of %g was left", want, g)
			}
		}
	}
}

// TestScoreSequences: a number is that of LogProbs to the bit, whatever it is scored beside.
func TestScoreSequences(t *testing.T) {
	for _, cfg := range []Config{tinyConfig(), organismConfig()} {
		m := newModel(t, cfg, 3)
		lengths := []int{1, 0, 200, 7, 2, 90, 256, 255, 256, 250, 200, 256, 256, 201, 3, 256}
		seqs := randomSequences(4, cfg.Vocab, lengths...)
		seqs = append(seqs, Sequence{Tokens: []int32{1, 2, 3}, Weights: make([]float32, 3)})
		got, err := m.ScoreSequences(t.Context(), newPool(t, 2), seqs)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range seqs {
			want, err := m.LogProbs(nil, s.Tokens)
			if err != nil {
				t.Fatal(err)
			}
			for k, w := range s.Weights {
				if w == 0 {
					want[k] = 0
				}
			}
			if !slices.Equal(got[i], want) {
				t.Errorf("sequence %d of %d tokens: got %v, want %v", i, len(s.Tokens), got[i], want)
			}
		}
		ended, stop := context.WithCancel(t.Context())
		stop()
		if _, err := m.ScoreSequences(ended, nil, seqs); err == nil {
			t.Error("scored under a context that had ended")
		}
		if _, err := m.ScoreSequences(t.Context(), nil, []Sequence{{Tokens: []int32{1, int32(cfg.Vocab)}, Weights: []float32{0, 1}}}); err == nil || !strings.Contains(err.Error(), "sequence 0: tokens") {
			t.Errorf("got %v, want an error that names the sequence", err)
		}
	}
}
