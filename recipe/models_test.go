package recipe

import (
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

// TestModelKeysAreChecked names what a config cannot want of a model or an adapter.
func TestModelKeysAreChecked(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"policy: {template: qwen-3}", `policy.template: chat template: got "qwen-3", want `},
		{"policy: {template: qwen-3}", `did you mean "qwen3"?`},
		{"policy: {memory_mib: 0}", "policy.memory_mib: got 0, want 1 to "},
		{"weight: {lora: {rank: -1}}", "weight.lora.rank: got -1, want 0 to 4096"},
		{"weight: {lora: {rank: 4, alpha: 0}}", "weight.lora.alpha: got 0, want "},
		{"weight: {lora: {rank: 4, targets: []}}", "weight.lora.targets: got none, want some of q_proj, "},
		{"weight: {lora: {targets: [q_prj]}}", `weight.lora.targets: got "q_prj", want q_proj or `},
		{"weight: {lora: {targets: [q_proj, q_proj]}}", `weight.lora.targets: got "q_proj" twice`},
		{"weight: {micro_batch_tokens: 0}", "weight.micro_batch_tokens: got 0, want 1 to "},
	} {
		if _, err := ParseConfig("c.yaml", []byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q in it", tc.text, err, tc.want)
		}
	}
}

// TestTrainerFollowsConfig trains what the config says: an adapter is far smaller than the model, and its first values follow from the seed.
func TestTrainerFollowsConfig(t *testing.T) {
	weights := map[string]whale.ID{}
	for _, text := range []string{"seed: 1", "weight: {lora: {rank: 2, targets: [q_proj]}}", "seed: 2\nweight: {lora: {rank: 2, targets: [q_proj]}}", "weight: {recompute: true}"} {
		c, err := ParseConfig("c.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		parts, err := OpenParts(t.Context(), c, Resources{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer parts.Close()
		memory, err := parts.Memory(1)
		if err != nil {
			t.Fatal(err)
		}
		if adapter := c.Weight.LoRA.Rank > 0; (memory.Plan.Optimizer < memory.Weights/10) != adapter {
			t.Errorf("%s: got %d bytes for the optimiser of a model of %d", text, memory.Plan.Optimizer, memory.Weights)
		}
		trainer, err := parts.newTrainer()
		if err != nil {
			t.Fatal(err)
		}
		if trainer.Weights() != parts.Bundle.Weights() {
			t.Errorf("%s: begins at %s, want the model's %s", text, trainer.Weights().ID, parts.Bundle.Weights().ID)
		}
		s := whale.Sequence{Tokens: []int32{1, 2, 3, 4}, Weights: []float32{0, 1, 1, 1}}
		if err := trainer.Accumulate(t.Context(), "op", []whale.Sequence{s}, whale.Loss{}); err != nil {
			t.Fatal(err)
		}
		if _, err := trainer.Step(t.Context(), "op", 1e-3); err != nil {
			t.Fatal(err)
		}
		weights[text] = trainer.Weights().ID
	}
	all := map[whale.ID]bool{}
	for _, id := range weights {
		all[id] = true
	}
	if len(all) != 3 || weights["seed: 1"] != weights["weight: {recompute: true}"] {
		t.Errorf("got %v, want three different: recomputing changes nothing, an adapter and its seed do", weights)
	}
}
