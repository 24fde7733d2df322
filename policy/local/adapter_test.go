package local

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
)

func rank4() lm.TrainerOptions {
	return lm.TrainerOptions{LoRA: &lm.LoRA{Rank: 4, Alpha: 8, Targets: []string{"q_proj", "down_proj"}, Seed: 3}}
}

// testBase is a saved model and its bundle, as adapters name their base by its path.
func testBase(t *testing.T) *Bundle {
	t.Helper()
	dir := t.TempDir()
	if err := testBundle(t).Save(dir, lm.F32); err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func loraTrainer(t *testing.T, b *Bundle) *Trainer {
	t.Helper()
	tr, err := NewTrainerWith(b, adam(), rank4(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestAdapterSnapshotGoesOn trains an adapter, snapshots, restores, trains on, and opens the snapshot as a model.
func TestAdapterSnapshotGoesOn(t *testing.T) {
	b := testBase(t)
	straight, broken := loraTrainer(t, b), loraTrainer(t, b)
	if straight.Weights() != b.Weights() {
		t.Errorf("before any step: got the weights %s, want the base's %s", straight.Weights().ID, b.Weights().ID)
	}
	for _, op := range []string{"1", "2"} {
		update(t, straight, b, op)
		update(t, broken, b, op)
	}
	if straight.Weights() == b.Weights() || straight.Weights() != broken.Weights() {
		t.Fatalf("got %s and %s from the base %s", straight.Weights().ID, broken.Weights().ID, b.Weights().ID)
	}
	dir := t.TempDir()
	if err := broken.Snapshot(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"adapter_config.json", "adapter_model.safetensors", fileOptimizer, fileTrainer} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, fileWeights)); err == nil {
		t.Error("the snapshot of an adapter holds the whole model")
	}
	resumed := loraTrainer(t, b)
	update(t, resumed, b, "other") // what it has done is forgotten
	if err := resumed.Restore(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if resumed.Weights() != broken.Weights() {
		t.Fatalf("restored: got %s, want %s", resumed.Weights().ID, broken.Weights().ID)
	}
	opened, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if opened.Weights() != broken.Weights() || opened.Renderer.ID() != b.Renderer.ID() || !strings.Contains(opened.Format, "adapter of rank 4") {
		t.Errorf("opened: got %s (%s), want %s", opened.Weights().ID, opened.Format, broken.Weights().ID)
	}
	if got, want := sampleOnce(t, opened.NewPolicy(Options{})), sampleOnce(t, publish(t, broken)); got != want {
		t.Errorf("the opened adapter says %q, the trainer's policy %q", got, want)
	}
	if a, c := update(t, straight, b, "3"), update(t, resumed, b, "3"); a != c || straight.Weights() != resumed.Weights() {
		t.Errorf("after the restore: got %+v and %s, want %+v and %s", c, resumed.Weights().ID, a, straight.Weights().ID)
	}
}

func publish(t *testing.T, tr *Trainer) *Policy {
	t.Helper()
	p, err := tr.Publish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Weights() != tr.Weights() {
		t.Errorf("published as %s, trained %s", p.Weights().ID, tr.Weights().ID)
	}
	return p.(*Policy)
}

func sampleOnce(t *testing.T, p *Policy) string {
	t.Helper()
	defer p.Close()
	c, err := p.Sample(t.Context(), whale.SampleRequest{Prompt: []int32{1, 2, 3}, MaxTokens: 20, Seed: 5, Sampling: whale.Sampling{Temperature: 1, TopP: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return p.tok.DecodeAll(c.Tokens)
}

// TestResetKeepsTheAdapter forgets moments, not what was learned.
func TestResetKeepsTheAdapter(t *testing.T) {
	b := testBase(t)
	tr := loraTrainer(t, b)
	update(t, tr, b, "1")
	before, said := tr.Weights(), sampleOnce(t, publish(t, tr))
	tr.ResetOptimizer()
	if tr.Weights() != before || sampleOnce(t, publish(t, tr)) != said {
		t.Errorf("reset: got the weights %s, want %s", tr.Weights().ID, before.ID)
	}
	update(t, tr, b, "2")
	if tr.Weights() == before {
		t.Error("a step after the reset changed nothing")
	}
	if got := b.Weights(); got != testBase(t).Weights() {
		t.Errorf("training changed the bundle's own weights: %s", got.ID)
	}
}

// TestRestoreRefuses has snapshots that do not belong to the trainer; it goes on as if nothing had been.
func TestRestoreRefuses(t *testing.T) {
	b := testBase(t)
	all := NewTrainer(b, adam(), Options{})
	update(t, all, b, "1")
	lora := loraTrainer(t, b)
	update(t, lora, b, "1")
	wide, err := NewTrainerWith(b, adam(), lm.TrainerOptions{LoRA: &lm.LoRA{Rank: 2, Alpha: 8, Targets: []string{"q_proj"}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := loraTrainer(t, all.Bundle())
	dirs := map[*Trainer]string{}
	for _, tr := range []*Trainer{all, lora, wide, elsewhere} {
		dirs[tr] = t.TempDir()
		if err := tr.Snapshot(t.Context(), dirs[tr]); err != nil {
			t.Fatal(err)
		}
	}
	spoiled := t.TempDir()
	if err := os.CopyFS(spoiled, os.DirFS(dirs[lora])); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(spoiled, fileOptimizer), 100); err != nil {
		t.Fatal(err)
	}
	weights := lora.Weights()
	for _, tc := range []struct {
		tr   *Trainer
		dir  string
		want string
	}{
		{lora, dirs[all], "got one of all weights, want one of an adapter"},
		{all, dirs[lora], "got one of an adapter, want one of all weights"},
		{lora, dirs[wide], "got rank 2"},
		{lora, dirs[elsewhere], "its adapter is for the weights"},
		{lora, spoiled, fileOptimizer},
		{lora, t.TempDir(), fileTrainer},
	} {
		if err := tc.tr.Restore(t.Context(), tc.dir); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q in it", err, tc.want)
		}
	}
	if lora.Weights() != weights {
		t.Errorf("failed restores changed the weights: got %s, want %s", lora.Weights().ID, weights.ID)
	}
	update(t, lora, b, "2")
}

// TestBadAdapterFolders opens what is no adapter, or one of another base.
func TestBadAdapterFolders(t *testing.T) {
	b := testBase(t)
	tr := loraTrainer(t, b)
	update(t, tr, b, "1")
	good := t.TempDir()
	if err := tr.Snapshot(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	edit := func(name string, change func(map[string]any)) func(dir string) error {
		return func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			var m map[string]any
			if err := json.Unmarshal(data, &m); err != nil {
				return err
			}
			change(m)
			data, err = json.Marshal(m)
			return errors.Join(err, os.WriteFile(filepath.Join(dir, name), data, 0o644))
		}
	}
	for _, tc := range []struct {
		name  string
		spoil func(dir string) error
		want  string
	}{
		{"no base", edit(fileAdapterConfig, func(m map[string]any) { delete(m, "base_model_name_or_path") }), "base_model_name_or_path: got nothing"},
		{"missing base", edit(fileAdapterConfig, func(m map[string]any) { m["base_model_name_or_path"] = "/nowhere" }), "its base: model /nowhere: no such"},
		{"another base", edit(fileAdapterConfig, func(m map[string]any) { m["base_model_name_or_path"] = "whale-tiny" }), "its base whale-tiny has the weights"},
		{"not JSON", func(d string) error { return os.WriteFile(filepath.Join(d, fileAdapterConfig), []byte("{"), 0o644) }, fileAdapterConfig},
		{"no weights", func(d string) error { return os.Remove(filepath.Join(d, "adapter_model.safetensors")) }, "adapter_model.safetensors"},
		{"cut weights", func(d string) error { return os.Truncate(filepath.Join(d, "adapter_model.safetensors"), 300) }, "adapter_model.safetensors"},
		{"itself", func(d string) error {
			return edit(fileAdapterConfig, func(m map[string]any) { m["base_model_name_or_path"] = d })(d)
		}, "got more than 4 adapters one on another"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		if err := tc.spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q in it", tc.name, err, tc.want)
		}
	}
}
