package lm

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func allTargets(rank int) LoRA {
	return LoRA{Rank: rank, Alpha: 6, Targets: LoRATargets(), Seed: 9}
}

// noisyAdapter has no factor at zero.
func noisyAdapter(t testing.TB, cfg Config, l LoRA) *Adapter {
	t.Helper()
	a, err := NewAdapter(cfg, l)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 3))
	for i := range a.flat {
		a.flat[i] += 0.2 * float32(rng.NormFloat64())
	}
	return a
}

func loraTrainer(t testing.TB, m *Model, o TrainerOptions) *Trainer {
	t.Helper()
	tr, err := NewTrainerWith(m, newPool(t, 2), DefaultAdamW(), o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestLoRAGradients(t *testing.T) {
	for _, targets := range [][]string{LoRATargets(), {"v_proj", "q_proj"}, {"up_proj"}, {"o_proj", "down_proj"}} {
		t.Run(strings.Join(targets, ","), func(t *testing.T) {
			cfg := tinyConfig()
			base := newModel(t, cfg, 3)
			m := base.Clone()
			l := LoRA{Rank: 3, Alpha: 6, Targets: targets}
			tr := loraTrainer(t, m, TrainerOptions{LoRA: &l})
			if err := tr.SetAdapter(noisyAdapter(t, cfg, l)); err != nil {
				t.Fatal(err)
			}
			seqs := randomSequences(11, cfg.Vocab, 80, 7, 2, 23)
			accumulate(t, tr, seqs)
			loss := func() float64 {
				merged := base.Clone()
				if err := merged.Merge(nil, tr.Adapter()); err != nil {
					t.Fatal(err)
				}
				return lossOf(t, merged, seqs)
			}
			rng := rand.New(rand.NewPCG(5, 5))
			for _, s := range cfg.adapterLayout(tr.adapter.lora) {
				for trial := range 2 {
					dir := make([]float64, s.n)
					for i := range dir {
						dir[i] = rng.NormFloat64()
					}
					if trial == 1 {
						clear(dir)
						dir[rng.IntN(s.n)] = 3
					}
					checkDirection(t, s.name, tr.params[s.off:s.off+s.n], tr.grads.flat[s.off:s.off+s.n], dir, loss)
				}
			}
		})
	}
}

func TestLoRAFreezesTheBase(t *testing.T) {
	cfg := tinyConfig()
	base := newModel(t, cfg, 3)
	m := base.Clone()
	l := LoRA{Rank: 2, Alpha: 4, Targets: []string{"k_proj", "up_proj"}, Seed: 1}
	tr := loraTrainer(t, m, TrainerOptions{LoRA: &l})
	if m.Hash() != base.Hash() {
		t.Fatal("a fresh adapter changes the model")
	}
	seqs := randomSequences(11, cfg.Vocab, 40, 23)
	first := accumulate(t, tr, seqs).Mean()
	step(t, tr, 0.05)
	for range 9 {
		accumulate(t, tr, seqs)
		step(t, tr, 0.05)
	}
	if last := accumulate(t, tr, seqs).Mean(); last > first-0.1 {
		t.Errorf("loss after ten steps: got %g, want well below %g", last, first)
	}
	// Only rows of the targets differ from the base.
	before := base.Tensors()
	for i, ts := range m.Tensors() {
		target := strings.Contains(ts.Name, "k_proj") || strings.Contains(ts.Name, "up_proj")
		if same := slices.Equal(ts.Data, before[i].Data); same == target {
			t.Errorf("%s: changed is %v, want %v", ts.Name, !same, target)
		}
	}
	// What is trained is what merging gives, and the base comes back to the bit.
	merged := base.Clone()
	if err := merged.Merge(newPool(t, 3), tr.Adapter()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(merged.w.flat, m.w.flat) {
		t.Error("merging the adapter into the base differs from the model being trained")
	}
	tr.RestoreBase()
	if m.Hash() != base.Hash() {
		t.Error("the base did not come back")
	}
}

// TestLoRAState trains, stops halfway, and goes on from files in a new process's place.
func TestLoRAState(t *testing.T) {
	cfg := tinyConfig()
	l := allTargets(2)
	batch := func(k int) []Sequence { return randomSequences(uint64(k), cfg.Vocab, 30, 12) }
	run := func(tr *Trainer, from, to int) {
		for k := from; k < to; k++ {
			accumulate(t, tr, batch(k))
			step(t, tr, 0.01)
		}
	}
	whole := loraTrainer(t, newModel(t, cfg, 3), TrainerOptions{LoRA: &l})
	run(whole, 0, 6)

	half := loraTrainer(t, newModel(t, cfg, 3), TrainerOptions{LoRA: &l})
	run(half, 0, 3)
	var state bytes.Buffer
	if err := half.WriteState(&state); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := half.Adapter().Save(dir, "base"); err != nil {
		t.Fatal(err)
	}
	again := loraTrainer(t, newModel(t, cfg, 3), TrainerOptions{LoRA: &l})
	a, err := LoadAdapter(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.SetAdapter(a); err != nil {
		t.Fatal(err)
	}
	if err := again.ReadState(&state); err != nil {
		t.Fatal(err)
	}
	run(again, 3, 6)
	if whole.Model().Hash() != again.Model().Hash() || whole.Adapter().Hash("b") != again.Adapter().Hash("b") {
		t.Error("a resumed run differs from one that was not interrupted")
	}

	// The state of another description is refused.
	other := l
	other.Alpha = 7
	state.Reset()
	if err := whole.WriteState(&state); err != nil {
		t.Fatal(err)
	}
	err = loraTrainer(t, newModel(t, cfg, 3), TrainerOptions{LoRA: &other}).ReadState(&state)
	if err == nil || !strings.Contains(err.Error(), "got the state of another model") {
		t.Errorf("state of another adapter: got error %v", err)
	}
}

func TestAdapterIdentity(t *testing.T) {
	cfg := tinyConfig()
	a := noisyAdapter(t, cfg, allTargets(2))
	same := a.Clone()
	if a.Hash("x") != same.Hash("x") || a.Hash("x") == a.Hash("y") {
		t.Error("the hash is not one of base and delta")
	}
	same.flat[len(same.flat)-1]++
	if a.Hash("x") == same.Hash("x") || a.layers[1][downProj].targets[0].b[0] != same.layers[1][downProj].targets[0].b[0] {
		t.Error("a clone is not independent")
	}
	l := allTargets(2)
	slices.Reverse(l.Targets)
	b, err := NewAdapter(cfg, l)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewAdapter(cfg, allTargets(2))
	if err != nil {
		t.Fatal(err)
	}
	if b.Hash("x") != c.Hash("x") {
		t.Error("the order of the targets matters")
	}
	for _, s := range a.Tensors() {
		if strings.Contains(s.Name, "lora_B") {
			continue
		}
		bound := 1/math.Sqrt(float64(s.Shape[1])) + 1e-9
		for _, x := range c.Tensors()[0].Data {
			if math.Abs(float64(x)) > bound && s.Name == c.Tensors()[0].Name {
				t.Fatalf("%s: got %g, want at most %g", s.Name, x, bound)
			}
		}
	}
}

func TestBadLoRA(t *testing.T) {
	cfg := tinyConfig()
	for _, c := range []struct {
		l    LoRA
		want string
	}{
		{LoRA{0, 1, []string{"q_proj"}, 0}, "lora: rank: got 0, want 1 to 4096"},
		{LoRA{1, -1, []string{"q_proj"}, 0}, "lora: alpha: got -1, want a positive number"},
		{LoRA{1, float32(math.Inf(1)), []string{"q_proj"}, 0}, "lora: alpha: got +Inf, want a positive number"},
		{LoRA{1, 1, nil, 0}, "lora: targets: got none, want some of q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj"},
		{LoRA{1, 1, []string{"lm_head"}, 0}, `lora: targets: got "lm_head", want one of q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj`},
		{LoRA{1, 1, []string{"q_proj", "q_proj"}, 0}, `lora: targets: got "q_proj" twice, want it once`},
	} {
		if _, err := NewLoRATrainer(newModel(t, cfg, 1), c.l, nil, DefaultAdamW()); err == nil || err.Error() != "trainer: "+c.want {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
	if _, err := NewTrainerWith(newModel(t, cfg, 1), nil, DefaultAdamW(), TrainerOptions{MicroBatch: -1}); err == nil {
		t.Error("a negative micro-batch: got no error")
	}
	a := noisyAdapter(t, cfg, allTargets(2))
	wide := cfg
	wide.FFN++
	if err := newModel(t, wide, 1).Merge(nil, a); err == nil || err.Error() != "merge adapter: got an adapter of another config, want that of the model" {
		t.Errorf("merge: got error %v", err)
	}
	if err := NewTrainer(newModel(t, cfg, 1), nil, DefaultAdamW()).SetAdapter(a); err == nil {
		t.Error("an adapter for a trainer of all weights: got no error")
	}
	l := allTargets(3)
	err := loraTrainer(t, newModel(t, cfg, 1), TrainerOptions{LoRA: &l}).SetAdapter(a)
	if err == nil || !strings.Contains(err.Error(), "got rank 2, alpha 6") {
		t.Errorf("an adapter of another rank: got error %v", err)
	}
}

// adapterFiles writes an adapter and lets edit change its config.
func adapterFiles(t *testing.T, a *Adapter, edit func(map[string]any)) string {
	t.Helper()
	dir := t.TempDir()
	if err := a.Save(dir, "some/base"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, adapterConfigFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(keys)
	}
	if data, err = json.Marshal(keys); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAdapterFiles(t *testing.T) {
	cfg := tinyConfig()
	a := noisyAdapter(t, cfg, allTargets(2))
	// What PEFT writes beside our keys.
	dir := adapterFiles(t, a, func(k map[string]any) {
		for _, key := range []string{"exclude_modules", "modules_to_save", "layers_to_transform", "megatron_config", "new_feature"} {
			k[key] = nil
		}
		k["rank_pattern"], k["alpha_pattern"], k["use_qalora"] = map[string]any{}, map[string]any{}, false
		k["qalora_group_size"], k["megatron_core"], k["peft_version"] = 16, "megatron.core", "0.21.2"
	})
	b, err := LoadAdapter(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash("") != b.Hash("") {
		t.Error("an adapter does not come back to the bit")
	}
	if b, err = LoadAdapter(adapterFiles(t, a, func(k map[string]any) { k["target_modules"] = "all-linear" }), cfg); err != nil || a.Hash("") != b.Hash("") {
		t.Errorf("all-linear: got error %v", err)
	}
}

func TestBadAdapterFiles(t *testing.T) {
	cfg := tinyConfig()
	a := noisyAdapter(t, cfg, allTargets(2))
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"peft_type", "IA3", `key "peft_type": got "IA3", want "LORA"`},
		{"r", "four", `key "r": got "four"`},
		{"r", 1 << 30, "rank: got 1073741824, want 1 to 4096"},
		{"r", 3, "tensor base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight: got shape [2 12], want [3 12]"},
		{"lora_alpha", 0, "alpha: got 0, want a positive number"},
		{"target_modules", []string{"q_proj"}, "not part of this model"},
		{"target_modules", ".*_proj", `key "target_modules": got ".*_proj"`},
		{"use_dora", true, `key "use_dora": got true, which is not supported, want it unset`},
		{"use_rslora", true, `key "use_rslora"`},
		{"bias", "all", `key "bias": got "all"`},
		{"modules_to_save", []string{"lm_head"}, `key "modules_to_save"`},
		{"rank_pattern", map[string]int{"x": 1}, `key "rank_pattern"`},
		{"init_lora_weights", "pissa", `key "init_lora_weights": got "pissa"`},
		{"some_new_trick", 3, `key "some_new_trick": got 3, which is not supported`},
	} {
		dir := adapterFiles(t, a, func(k map[string]any) { k[c.key] = c.value })
		if _, err := LoadAdapter(dir, cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: got error %v, want %q", c.key, c.value, err, c.want)
		}
	}
	dir := adapterFiles(t, a, func(k map[string]any) { delete(k, "r") })
	if _, err := LoadAdapter(dir, cfg); err == nil || !strings.Contains(err.Error(), `key "r": missing`) {
		t.Errorf("no rank: got error %v", err)
	}
	path := filepath.Join(adapterFiles(t, a, nil), adapterWeightsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 7, 100, len(data) - 1} {
		if err := os.WriteFile(path, data[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadAdapter(filepath.Dir(path), cfg); err == nil {
			t.Errorf("%d of %d bytes: got no error", n, len(data))
		}
	}
}

func FuzzAdapterConfig(f *testing.F) {
	f.Add([]byte(`{"peft_type":"LORA","r":2,"lora_alpha":4,"target_modules":["q_proj"],"bias":"none"}`))
	f.Add([]byte(`{"peft_type":"LORA","r":-1,"lora_alpha":1e99,"target_modules":"all-linear","use_dora":true}`))
	f.Add([]byte(`[null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseAdapterConfig(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if l.Validate() == nil && l.Rank < 1 {
			t.Errorf("got rank %d", l.Rank)
		}
	})
}
