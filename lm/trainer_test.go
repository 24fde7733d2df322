package lm

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

func accumulate(t testing.TB, tr *Trainer, seqs []Sequence) Loss {
	t.Helper()
	loss, err := tr.Accumulate(t.Context(), seqs)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

func step(t testing.TB, tr *Trainer, lr float32) StepStats {
	t.Helper()
	stats, err := tr.Step(lr)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// trainSteps takes steps from to to of a fixed course of minibatches.
func trainSteps(t testing.TB, tr *Trainer, from, to int) (losses []float64) {
	t.Helper()
	for i := from; i < to; i++ {
		seqs := randomSequences(uint64(i), tr.m.cfg.Vocab, 60, 5, 110, 2, 33, 70)
		losses = append(losses, accumulate(t, tr, seqs[:2]).NLL, accumulate(t, tr, seqs[2:]).NLL)
		step(t, tr, 1e-2)
	}
	return losses
}

func TestTrainingIgnoresThePool(t *testing.T) {
	for _, cfg := range []Config{tinyConfig(), organismConfig()} {
		var want *Model
		var wantLosses []float64
		for _, workers := range []int{0, 1, 2, 5} {
			m := newModel(t, cfg, 4)
			var p *kernel.Pool
			if workers > 0 {
				p = newPool(t, workers)
			}
			losses := trainSteps(t, NewTrainer(m, p, AdamW{Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.1, ClipNorm: 0.5}), 0, 2)
			if want == nil {
				want, wantLosses = m, losses
				continue
			}
			if !slices.Equal(m.w.flat, want.w.flat) || !slices.Equal(losses, wantLosses) {
				t.Errorf("%d workers: weights or losses differ from those of none", workers)
			}
		}
	}
}

// TestMicroBatches trains on more tokens than one micro-batch and compares the
// gradient with the sum over single sequences.
func TestMicroBatches(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 4)
	lengths := make([]int, 30)
	for i := range lengths {
		lengths[i] = 100 + 5*i
	}
	seqs := randomSequences(1, cfg.Vocab, lengths...)
	whole, parts := NewTrainer(m, newPool(t, 2), DefaultAdamW()), NewTrainer(m, nil, DefaultAdamW())
	loss := accumulate(t, whole, seqs)
	if most := cap(whole.tape.final) / cfg.Dim; most > microBatch {
		t.Errorf("rows at once: got %d, want at most %d", most, microBatch)
	}
	var sum Loss
	for _, s := range seqs {
		l := accumulate(t, parts, []Sequence{s})
		sum.NLL += l.NLL
		sum.Weight += l.Weight
	}
	var weight float64
	for _, s := range seqs {
		for _, w := range s.Weights {
			weight += float64(w)
		}
	}
	if loss.Weight != weight {
		t.Errorf("weight: got %g, want %g", loss.Weight, weight)
	}
	if math.Abs(loss.NLL-sum.NLL) > 1e-6*sum.NLL || loss.Weight != sum.Weight {
		t.Errorf("loss: got %+v, want %+v", loss, sum)
	}
	for i, g := range whole.grads.flat {
		if w := parts.grads.flat[i]; math.Abs(float64(g-w)) > 1e-3*(1+math.Abs(float64(w))) {
			t.Fatalf("gradient %d: got %g, want %g", i, g, w)
		}
	}
}

// TestStateRoundTrip wants three steps, a restart and three steps to equal six.
func TestStateRoundTrip(t *testing.T) {
	cfg := tinyConfig()
	opt := AdamW{Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.1, ClipNorm: 1}
	six := NewTrainer(newModel(t, cfg, 4), nil, opt)
	want := trainSteps(t, six, 0, 6)

	three := NewTrainer(newModel(t, cfg, 4), nil, opt)
	got := trainSteps(t, three, 0, 3)
	dir := t.TempDir()
	if err := three.Model().Save(dir, F32); err != nil {
		t.Fatal(err)
	}
	var state bytes.Buffer
	if err := three.WriteState(&state); err != nil {
		t.Fatal(err)
	}
	m, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	resumed := NewTrainer(m, newPool(t, 2), opt)
	if err := resumed.ReadState(&state); err != nil {
		t.Fatal(err)
	}
	if resumed.Steps() != 3 {
		t.Errorf("steps: got %d, want 3", resumed.Steps())
	}
	got = append(got, trainSteps(t, resumed, 3, 6)...)
	if !slices.Equal(got, want) || m.Hash() != six.Model().Hash() {
		t.Errorf("resumed: got losses %v, want %v", got, want)
	}
}

func TestBadState(t *testing.T) {
	tr := NewTrainer(newModel(t, tinyConfig(), 4), nil, DefaultAdamW())
	trainSteps(t, tr, 0, 1)
	var buf bytes.Buffer
	if err := tr.WriteState(&buf); err != nil {
		t.Fatal(err)
	}
	good := buf.Bytes()
	moments := slices.Clone(tr.moment.first)
	edit := func(at int, b ...byte) []byte {
		out := slices.Clone(good)
		copy(out[at:], b)
		return out
	}
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "header: EOF"},
		{"magic", edit(0, 'x'), `header: got "xhaleop1", want "whaleop1"`},
		{"config", edit(8, 1, 2, 3), "header: got the state of another model"},
		{"params", edit(40, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "header: got the state of another model"},
		{"steps", edit(48, 0xff, 0xff, 0xff, 0xff, 0xff), "steps: got 1099511627775"},
		{"nan", edit(56, 0, 0, 0xc0, 0x7f), "moments: value 0: got NaN"},
		{"negative", edit(len(good)-33, 0xbf), "second moment"},
		{"flip", edit(60, ^good[60]), "checksum: got"},
		{"short", good[:len(good)-40], "moments: unexpected EOF"},
		{"no checksum", good[:len(good)-1], "checksum: unexpected EOF"},
		{"long", append(slices.Clone(good), 0), "got bytes after the checksum, want the end"},
	} {
		err := tr.ReadState(bytes.NewReader(tt.data))
		if err == nil || !strings.HasPrefix(err.Error(), "read optimiser state: "+tt.want) {
			t.Errorf("%s: got error %v, want %s", tt.name, err, tt.want)
		}
	}
	if !slices.Equal(tr.moment.first, moments) || tr.Steps() != 1 {
		t.Error("a bad state changed the trainer")
	}
	accumulate(t, tr, randomSequences(1, 19, 9))
	if err := tr.WriteState(&buf); err == nil || !strings.Contains(err.Error(), "step first") {
		t.Errorf("state with gradients: got error %v", err)
	}
}

func TestBadSequences(t *testing.T) {
	cfg := tinyConfig()
	tr := NewTrainer(newModel(t, cfg, 4), nil, DefaultAdamW())
	good := randomSequences(1, cfg.Vocab, 9)[0]
	want := accumulate(t, tr, []Sequence{good})
	for _, tt := range []struct {
		s    Sequence
		want string
	}{
		{Sequence{[]int32{1, 2}, []float32{0}}, "weights: got 1, want one for each of 2 tokens"},
		{Sequence{[]int32{1, 2}, []float32{1, 0}}, "weight 0: got 1, want 0, since nothing predicts the first token"},
		{Sequence{[]int32{1, 2}, []float32{0, -1}}, "weight 1: got -1, want a finite number, at least 0"},
		{Sequence{[]int32{1, 2}, []float32{0, float32(math.NaN())}}, "weight 1: got NaN, want a finite number, at least 0"},
		{Sequence{[]int32{1, 2}, []float32{0, float32(math.Inf(1))}}, "weight 1: got +Inf, want a finite number, at least 0"},
		{Sequence{[]int32{1, 19}, []float32{0, 1}}, "tokens: token 1: got id 19, want 0 to 18"},
		{Sequence{make([]int32, 257), make([]float32, 257)}, "tokens: got 257, want at most 256"},
	} {
		_, err := tr.Accumulate(t.Context(), []Sequence{good, tt.s})
		if err == nil || err.Error() != "accumulate: sequence 1: "+tt.want {
			t.Errorf("got error %v, want %s", err, tt.want)
		}
	}
	if got := step(t, tr, 0).Weight; got != want.Weight {
		t.Errorf("weight after bad sequences: got %g, want %g", got, want.Weight)
	}
}

func TestStepErrors(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 4)
	before := m.Hash()
	tr := NewTrainer(m, nil, DefaultAdamW())
	if _, err := tr.Step(1); !errors.Is(err, errNothing) {
		t.Errorf("nothing accumulated: got error %v, want %v", err, errNothing)
	}
	if loss := accumulate(t, tr, []Sequence{{[]int32{1, 2}, []float32{0, 0}}, {}}); loss != (Loss{}) {
		t.Errorf("only context: got %+v, want nothing", loss)
	}
	if _, err := tr.Step(1); !errors.Is(err, errNothing) {
		t.Errorf("only context: got error %v, want %v", err, errNothing)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	seqs := randomSequences(1, cfg.Vocab, 20)
	accumulate(t, tr, seqs)
	if _, err := tr.Accumulate(ctx, seqs); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: got error %v", err)
	}
	if _, err := tr.Step(1); !errors.Is(err, errNothing) {
		t.Errorf("after an ended context: got error %v, want %v", err, errNothing)
	}
	accumulate(t, tr, seqs)
	for _, lr := range []float32{-1, float32(math.NaN()), float32(math.Inf(1))} {
		if _, err := tr.Step(lr); err == nil || !strings.HasPrefix(err.Error(), "step: learning rate: got") {
			t.Errorf("learning rate %g: got error %v", lr, err)
		}
	}
	tr.grads.flat[3] = float32(math.Inf(1))
	if _, err := tr.Step(1); err == nil || !strings.HasPrefix(err.Error(), "step: gradient norm: got +Inf") {
		t.Errorf("infinite gradient: got error %v", err)
	}
	if m.Hash() != before || tr.Steps() != 0 {
		t.Error("a failed step changed the weights or the step count")
	}
	if _, err := NewTrainer(m, nil, AdamW{Beta1: 1, Eps: 1}).Step(1); err == nil || err.Error() != "step: adamw: beta1: got 1, want a number in [0, 1)" {
		t.Errorf("bad constants: got error %v", err)
	}
}

// TestAdamW follows a float64 twin of PyTorch's AdamW over a few steps.
func TestAdamW(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 4)
	opt := AdamW{Beta1: 0.9, Beta2: 0.95, Eps: 1e-6, WeightDecay: 0.1, ClipNorm: 2.9}
	tr := NewTrainer(m, newPool(t, 2), opt)
	n := m.NumParams()
	w, m1, m2 := make([]float64, n), make([]float64, n), make([]float64, n)
	decay := make([]float64, n)
	for _, s := range cfg.layout() {
		for i := s.off; i < s.off+s.n; i++ {
			w[i] = float64(m.w.flat[i])
			if !s.isNorm() {
				decay[i] = 0.1
			}
		}
	}
	const lr = 0.01
	clipped := 0
	for k := range 5 {
		loss := accumulate(t, tr, randomSequences(uint64(k), cfg.Vocab, 40*(k+1)%90+10))
		loss.Weight += accumulate(t, tr, randomSequences(uint64(k+9), cfg.Vocab, 30)).Weight // two calls, one minibatch
		g := make([]float64, n)
		norm := 0.0
		for i := range g {
			g[i] = float64(tr.grads.flat[i]) / loss.Weight
			norm += g[i] * g[i]
		}
		norm = math.Sqrt(norm)
		stats := step(t, tr, lr)
		if math.Abs(stats.GradNorm-norm) > 1e-5*norm || stats.Clipped != (norm > 2.9) || stats.Weight != loss.Weight {
			t.Fatalf("step %d: got %+v, want norm %g, weight %g", k, stats, norm, loss.Weight)
		}
		scale := 1.0
		if stats.Clipped {
			clipped++
			scale = 2.9 / norm
		}
		for i := range w {
			w[i] -= lr * decay[i] * w[i]
			m1[i] = 0.9*m1[i] + 0.1*g[i]*scale
			m2[i] = 0.95*m2[i] + 0.05*g[i]*scale*g[i]*scale
			hat1, hat2 := m1[i]/(1-math.Pow(0.9, float64(k+1))), m2[i]/(1-math.Pow(0.95, float64(k+1)))
			w[i] -= lr * hat1 / (math.Sqrt(hat2) + 1e-6)
			if math.Abs(w[i]-float64(m.w.flat[i])) > 1e-4*(lr+math.Abs(w[i])) {
				t.Fatalf("step %d: weight %d: got %g, want %g", k, i, m.w.flat[i], w[i])
			}
		}
		if slices.ContainsFunc(tr.grads.flat, func(x float32) bool { return x != 0 }) {
			t.Fatal("a step left gradients behind")
		}
	}
	if clipped == 0 || clipped == 5 {
		t.Errorf("clipped steps: got %d of 5, want some of both kinds", clipped)
	}
}

// TestLearning memorises sequences, and greedy sampling then recites them: training,
// scoring and sampling agree on what the weights mean.
func TestLearning(t *testing.T) {
	cfg := tinyConfig()
	m := newModel(t, cfg, 4)
	tr := NewTrainer(m, newPool(t, 2), DefaultAdamW())
	seqs := randomSequences(8, cfg.Vocab, 24, 24, 24, 24)
	for i, s := range seqs {
		s.Tokens[0] = int32(i)
		for j := 1; j < len(s.Weights); j++ {
			s.Weights[j] = 1
		}
	}
	first := accumulate(t, tr, seqs).Mean()
	if want := math.Log(float64(cfg.Vocab)); math.Abs(first-want) > 1 {
		t.Errorf("loss before training: got %g, want near log(vocab) = %g", first, want)
	}
	var last float64
	for range 300 {
		step(t, tr, 5e-3)
		last = accumulate(t, tr, seqs).Mean()
	}
	if last > 0.05 {
		t.Fatalf("loss after training: got %g, want it memorised", last)
	}
	g := newGenerator(t, m, GeneratorOptions{})
	for i, s := range seqs {
		got := generate(t, g, Request{Prompt: s.Tokens[:1], MaxTokens: len(s.Tokens) - 1})
		if !slices.Equal(got.Tokens, s.Tokens[1:]) {
			t.Errorf("sequence %d: got %v, want %v", i, got.Tokens, s.Tokens[1:])
		}
	}
}

// TestTrainingMemory trains on 4,096 tokens and weighs what the trainer then holds,
// which is its peak, since it keeps its memory.
func TestTrainingMemory(t *testing.T) {
	heap := func() float64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc) / (1 << 20)
	}
	cfg := organismConfig()
	lengths := make([]int, 16)
	for i := range lengths {
		lengths[i] = 257
	}
	seqs := randomSequences(1, cfg.Vocab, lengths...)
	before := heap()
	tr := NewTrainer(newModel(t, cfg, 1), newPool(t, 2), DefaultAdamW())
	accumulate(t, tr, seqs)
	step(t, tr, 1e-3)
	if got := heap() - before; got > 150 {
		t.Errorf("memory held: got %.0f MiB, want at most 150", got)
	} else {
		t.Logf("%.0f MiB", got)
	}
	runtime.KeepAlive(tr)
}

// TestLogProbsErrors covers what cannot be scored.
func TestLogProbsErrors(t *testing.T) {
	m := newModel(t, tinyConfig(), 1)
	if _, err := m.LogProbs(nil, []int32{1, 77}); err == nil || err.Error() != "log-probabilities: token 1: got id 77, want 0 to 18" {
		t.Errorf("got error %v", err)
	}
	if _, err := m.LogProbs(nil, make([]int32, 257)); err == nil || err.Error() != "log-probabilities: tokens: got 257, want at most 256" {
		t.Errorf("got error %v", err)
	}
	for n := range 2 {
		if lps, err := m.LogProbs(nil, make([]int32, n)); err != nil || len(lps) != n {
			t.Errorf("%d tokens: got %v, %v", n, lps, err)
		}
	}
}
