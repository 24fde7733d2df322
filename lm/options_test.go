package lm

import (
	"math"
	"runtime"
	"slices"
	"testing"
)

// TestRecompute holds recomputation to the bits of keeping everything, with and without an
// adapter, over micro-batches that shrink and grow.
func TestRecompute(t *testing.T) {
	for _, tied := range []bool{false, true} {
		cfg := tinyConfig()
		cfg.Layers, cfg.TieEmbeddings = 4, tied
		l := allTargets(2)
		for _, lora := range []*LoRA{nil, &l} {
			run := func(recompute bool) *Trainer {
				tr := loraTrainer(t, newModel(t, cfg, 3), TrainerOptions{Recompute: recompute, MicroBatch: 50, LoRA: lora})
				for k := range 4 {
					accumulate(t, tr, randomSequences(uint64(k), cfg.Vocab, 30, 12, 80-20*k, 25, 5, 40))
					step(t, tr, 0.01)
				}
				return tr
			}
			kept, again := run(false), run(true)
			if kept.Model().Hash() != again.Model().Hash() || !slices.Equal(kept.moment.first, again.moment.first) {
				t.Errorf("tied %v, adapter %v: recomputed training differs", tied, lora != nil)
			}
		}
	}
}

// TestMicroBatchOption checks that the option divides the work without changing what is
// learned beyond the last bits.
func TestMicroBatchOption(t *testing.T) {
	cfg := tinyConfig()
	seqs := randomSequences(3, cfg.Vocab, 30, 12, 60, 25)
	var losses, norms []float64
	var held []int
	for _, size := range []int{1, 40, 0} {
		tr := loraTrainer(t, newModel(t, cfg, 3), TrainerOptions{MicroBatch: size})
		losses = append(losses, accumulate(t, tr, seqs).Mean())
		norms = append(norms, step(t, tr, 0.01).GradNorm)
		held = append(held, cap(tr.tape.final))
	}
	for i := range losses {
		if d := losses[i] - losses[0]; d > 1e-6 || d < -1e-6 {
			t.Errorf("losses: got %v, want them equal", losses)
		}
		if d := norms[i]/norms[0] - 1; d > 1e-5 || d < -1e-5 {
			t.Errorf("gradient norms: got %v, want them equal", norms)
		}
	}
	if !slices.IsSorted(held) || held[0] == held[2] {
		t.Errorf("memory by micro-batch: got %v, want it to grow", held)
	}
}

// TestLoRAIgnoresThePool trains an adapter with pools of several sizes.
func TestLoRAIgnoresThePool(t *testing.T) {
	cfg := organismConfig()
	cfg.Layers = 2
	l := LoRA{Rank: 4, Alpha: 8, Targets: LoRATargets(), Seed: 5}
	var want string
	for _, workers := range []int{1, 2, 5} {
		tr, err := NewTrainerWith(newModel(t, cfg, 3), newPool(t, workers), DefaultAdamW(), TrainerOptions{LoRA: &l, Recompute: workers == 5})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			accumulate(t, tr, randomSequences(uint64(k), cfg.Vocab, 200, 90, 33))
			step(t, tr, 0.01)
		}
		got := tr.Model().Hash() + tr.Adapter().Hash("")
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers: the result differs", workers)
		}
	}
}

// TestLargeVocabulary needs several chunks of logits, which must stay few and sum to what the
// sequences give one by one.
func TestLargeVocabulary(t *testing.T) {
	cfg := tinyConfig()
	cfg.Vocab, cfg.Layers = 49152, 1
	if got := cfg.headRows(); got != 384 {
		t.Fatalf("rows of logits: got %d, want 384", got)
	}
	seqs := randomSequences(1, cfg.Vocab, 250, 250, 250)
	for _, s := range seqs {
		for i := range s.Weights[1:] {
			s.Weights[i+1] = 1
		}
	}
	whole := NewTrainer(newModel(t, cfg, 3), newPool(t, 2), DefaultAdamW())
	parts := NewTrainer(newModel(t, cfg, 3), newPool(t, 2), DefaultAdamW())
	total := accumulate(t, whole, seqs)
	var sum Loss
	for i := range seqs {
		l := accumulate(t, parts, seqs[i:i+1])
		sum.NLL += l.NLL
		sum.Weight += l.Weight
	}
	if got, most := cap(whole.tape.grad.head.logits), 384*cfg.Vocab; got > most {
		t.Errorf("logits held: got %d, want at most %d", got, most)
	}
	if total.Weight != sum.Weight || math.Abs(total.NLL/sum.NLL-1) > 1e-6 {
		t.Errorf("loss: got %+v, want %+v", total, sum)
	}
	for i, g := range whole.grads.flat {
		if w := parts.grads.flat[i]; math.Abs(float64(g-w)) > 1e-4*(1+math.Abs(float64(w))) {
			t.Fatalf("gradient %d: got %g, want %g", i, g, w)
		}
	}
}

// TestMemoryPlan weighs trainers against what is promised before the run.
func TestMemoryPlan(t *testing.T) {
	heap := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC() // what pools hold goes with the second
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	cfg := organismConfig()
	cfg.Layers = 8
	l := LoRA{Rank: 4, Alpha: 8, Targets: LoRATargets()}
	seqs := randomSequences(1, cfg.Vocab, 257, 257, 257, 257, 257, 257)
	var totals []int64
	for _, o := range []TrainerOptions{
		{MicroBatch: 1024}, {MicroBatch: 1024, Recompute: true}, {MicroBatch: 1024, LoRA: &l}, {MicroBatch: 1024, Recompute: true, LoRA: &l},
	} {
		plan, err := PlanMemory(cfg, o, 257, 2)
		if err != nil {
			t.Fatal(err)
		}
		before := heap()
		tr := loraTrainer(t, newModel(t, cfg, 1), o)
		accumulate(t, tr, seqs)
		step(t, tr, 1e-3)
		got := heap() - before
		runtime.KeepAlive(tr)
		if got > plan.Total() || got < plan.Total()*7/10 {
			t.Errorf("%+v: got %d bytes, want at most the %d planned and not much less: %+v", o, got, plan.Total(), plan)
		}
		totals = append(totals, plan.Total())
	}
	if totals[1] >= totals[0] || totals[2] >= totals[0] || totals[3] >= min(totals[1], totals[2]) {
		t.Errorf("plans: got %v, want recomputation and an adapter to shrink them", totals)
	}
	if _, err := PlanMemory(Config{}, TrainerOptions{}, 1, 1); err == nil {
		t.Error("no model: got no error")
	}
	if _, err := PlanScoring(Config{}, 1, 1); err == nil {
		t.Error("scoring with no model: got no error")
	}
	m := newModel(t, cfg, 1)
	var long []Sequence
	for range 3 {
		long = append(long, randomSequences(1, cfg.Vocab, slices.Repeat([]int{257}, 7)...)...)
	}
	plan, err := PlanScoring(cfg, 257, 2)
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	s := scorer{m: m, p: newPool(t, 2), tape: newTape(cfg, keepNone)}
	if _, err := s.all(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	got := heap() - before
	runtime.KeepAlive(s)
	if got > plan || got < plan/2 {
		t.Errorf("scoring: got %d bytes, want at most the %d planned and not much less", got, plan)
	}
}
