package grpo

import (
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// Config are the settings that kind grpo has besides, and that other kinds refuse.
type Config struct {
	ClipLow   float64 `yaml:"clip_low" json:"clip_low"`   // a token has no gradient once its ratio fell this far below 1 and its episode did worse than its group
	ClipHigh  float64 `yaml:"clip_high" json:"clip_high"` // a token has no gradient once its ratio rose this far above 1 and its episode did better than its group
	KL        float64 `yaml:"kl" json:"kl"`               // weight of the divergence from the weights at the phase's start; 0 = none
	Normalise bool    `yaml:"normalise" json:"normalise"` // divide a group's advantages by the standard deviation of its rewards
}

// Default is the usual choice: clipping at 0.2 both ways (Schulman et al. 2017), normalised advantages, no divergence.
func Default() Config { return Config{ClipLow: 0.2, ClipHigh: 0.2, Normalise: true} }

// Loss is what the settings have a trainer descend.
func (c Config) Loss() whale.Loss {
	return whale.Loss{Kind: whale.LossPPO, ClipLow: c.ClipLow, ClipHigh: c.ClipHigh, KL: c.KL}
}

// Validate names the first setting that makes no sense.
func (c Config) Validate() error {
	for _, k := range []struct {
		key      string
		got      float64
		low, top float64
	}{
		{"clip_low", c.ClipLow, 1e-6, 1},
		{"clip_high", c.ClipHigh, 1e-6, 1000},
		{"kl", c.KL, 0, 1000},
	} {
		if !(k.got >= k.low && k.got <= k.top) {
			return fmt.Errorf("weight.grpo.%s: got %g, want %g to %g", k.key, k.got, k.low, k.top)
		}
	}
	return nil
}
