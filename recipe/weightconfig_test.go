package recipe

import (
	"strings"
	"testing"
)

// TestWeightKinds: a kind takes its own settings and refuses the other's.
func TestWeightKinds(t *testing.T) {
	for text, want := range map[string]string{
		"weight: {kind: rsft, accept: 0.3}":              "",
		"weight: {kind: grpo, group: 2}":                 "",
		"weight: {kind: grpo, grpo: {clip_high: 0.28}}":  "",
		"weight: {kind: grpo, grpo: {kl: 0.01}}":         "",
		"weight: {grpo: {clip_low: 0.2}}":                "", // written out as it is by default
		"weight: {kind: rfst}":                           `weight.kind: got "rfst", want rsft or grpo`,
		"weight: {grpo: {normalise: false}}":             "weight.grpo: got settings of its own, want none where weight.kind is rsft",
		"weight: {kind: grpo, accept: 0.3}":              "weight.accept: got 0.3, want it left out where weight.kind is grpo",
		"weight: {kind: grpo, group: 1}":                 "weight.group: got 1, want 2 or more",
		"weight: {kind: grpo, grpo: {clip_low: 0}}":      "weight.grpo.clip_low: got 0, want 1e-06 to 1",
		"weight: {kind: grpo, grpo: {clip_high: -0.1}}":  "weight.grpo.clip_high: got -0.1, want",
		"weight: {kind: grpo, grpo: {kl: -1}}":           "weight.grpo.kl: got -1, want 0 to",
		"weight: {kind: grpo, grpo: {normalize: false}}": `did you mean "normalise"?`,
		"weight: {accept: 1}":                            "weight.accept: got 1, want a threshold in [0, 1)",
		"weight: {batch: 0}":                             "weight.batch: got 0, want 1 or more",
	} {
		c, err := ParseConfig("c.yaml", []byte(text+"\n"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
			continue
		}
		if err != nil {
			continue
		}
		out, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseConfig("config.yaml", out); err != nil {
			t.Errorf("%s: as resolved: %v", text, err)
		}
	}
}

// TestMemoryOfScoring: weights that are scored under are part of what a run says it takes.
func TestMemoryOfScoring(t *testing.T) {
	t.Parallel()
	var total []int64
	for _, text := range []string{"weight: {kind: grpo}", "weight: {kind: grpo, grpo: {kl: 0.1}}"} {
		c, err := ParseConfig("c.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		parts, err := OpenParts(t.Context(), c, Resources{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer parts.Close()
		m, err := parts.Memory(1)
		if err != nil {
			t.Fatal(err)
		}
		if m.Scoring > 0 && m.Scoring < m.Weights {
			t.Errorf("%s: got %d bytes to score, want more than the weights' %d", text, m.Scoring, m.Weights)
		}
		total = append(total, m.Run())
	}
	if total[0] >= total[1] {
		t.Errorf("got %d bytes, want more where the phase's start is scored under: %d", total[1], total[0])
	}
}
