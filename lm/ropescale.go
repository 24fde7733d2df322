package lm

import (
	"fmt"
	"math"
)

// The kinds of RopeScaling.
const (
	RopeLinear = "linear" // positions divided by Factor (Chen et al., 2023)
	RopeLlama3 = "llama3" // long waves divided by Factor, short ones kept, a ramp between (Llama 3.1)
)

// RopeScaling stretches a model's rotary angles beyond the context that it was first
// trained on. The zero value does not. The JSON names are Hugging Face's.
type RopeScaling struct {
	Kind   string  `json:"rope_type,omitempty"`
	Factor float64 `json:"factor,omitempty"` // at least 1

	// Of RopeLlama3 alone: a wave counts as short if it turns more than HighFreq times
	// within OriginalMaxSeq tokens, as long if fewer than LowFreq times.
	LowFreq        float64 `json:"low_freq_factor,omitempty"`
	HighFreq       float64 `json:"high_freq_factor,omitempty"`
	OriginalMaxSeq int     `json:"original_max_position_embeddings,omitempty"`
}

func (s RopeScaling) validate() error {
	const most = 1 << 20
	between := func(key string, got, low float64) error {
		if !(got >= low && got <= most) {
			return fmt.Errorf("%s: got %g, want a number from %g to %d", key, got, low, most)
		}
		return nil
	}
	switch s.Kind {
	case "":
		if s != (RopeScaling{}) {
			return fmt.Errorf("rope_type: got none, want %q or %q", RopeLinear, RopeLlama3)
		}
		return nil
	case RopeLinear:
		if s != (RopeScaling{Kind: RopeLinear, Factor: s.Factor}) {
			return fmt.Errorf("rope_type: got %q with keys of %q, want factor alone", RopeLinear, RopeLlama3)
		}
		return between("factor", s.Factor, 1)
	case RopeLlama3:
		if err := between("factor", s.Factor, 1); err != nil {
			return err
		}
		if err := between("low_freq_factor", s.LowFreq, 1e-6); err != nil {
			return err
		}
		if !(s.HighFreq > s.LowFreq && s.HighFreq <= most) {
			return fmt.Errorf("high_freq_factor: got %g, want more than low_freq_factor %g and at most %d", s.HighFreq, s.LowFreq, most)
		}
		if s.OriginalMaxSeq < 1 || s.OriginalMaxSeq > maxMaxSeq {
			return fmt.Errorf("original_max_position_embeddings: got %d, want 1 to %d", s.OriginalMaxSeq, maxMaxSeq)
		}
		return nil
	}
	return fmt.Errorf("rope_type: got %q, want %q, %q or none", oneLine(s.Kind), RopeLinear, RopeLlama3)
}

// stretch takes an angle a token, in radians, to the scaled one. The formulas are
// those of transformers' modeling_rope_utils.
func (s RopeScaling) stretch(freq float64) float64 {
	switch s.Kind {
	case RopeLinear:
		return freq / s.Factor
	case RopeLlama3:
		turns := float64(s.OriginalMaxSeq) * freq / (2 * math.Pi)
		switch {
		case turns > s.HighFreq:
			return freq
		case turns < s.LowFreq:
			return freq / s.Factor
		}
		smooth := (turns - s.LowFreq) / (s.HighFreq - s.LowFreq)
		return (1-smooth)*freq/s.Factor + smooth*freq
	}
	return freq
}
