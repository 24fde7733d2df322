package recipe

import (
	"fmt"

	"github.com/seed-095d5d2b/whale/modelupdate"
)

// AdaptiveConfig are the thresholds of the adaptive schedule (WHALE, section 2, with the paper's values as defaults): a phase ends, after a minimum
// length, when its own training signal stops improving. Nothing is read from a validation set.
type AdaptiveConfig struct {
	WindowEpochs     float64 `yaml:"window_epochs"`     // weight phase: the reward is averaged over the last so many epochs
	MinimumEpochs    float64 `yaml:"minimum_epochs"`    // weight phase: it lasts at least so long
	PatienceEpochs   float64 `yaml:"patience_epochs"`   // weight phase: it ends when the average has set no new best of the phase for so long
	MaximumEpochs    float64 `yaml:"maximum_epochs"`    // weight phase: it ends here in any case; 0 = only the total ends it
	MinimumSessions  int     `yaml:"minimum_sessions"`  // harness phase: it has at least so many
	PatienceSessions int     `yaml:"patience_sessions"` // harness phase: it ends after so many in a row without a new best score
	MaximumSessions  int     `yaml:"maximum_sessions"`  // harness phase: it ends here in any case
}

func defaultAdaptive() AdaptiveConfig {
	return AdaptiveConfig{WindowEpochs: 0.2, MinimumEpochs: 0.2, PatienceEpochs: 0.2, MinimumSessions: 6, PatienceSessions: 2, MaximumSessions: 15}
}

func (a AdaptiveConfig) validate() error {
	for _, k := range []struct {
		key      string
		got      float64
		low, top float64
	}{
		{"window_epochs", a.WindowEpochs, 1e-6, 1e6},
		{"minimum_epochs", a.MinimumEpochs, 1e-6, 1e6},
		{"patience_epochs", a.PatienceEpochs, 1e-6, 1e6},
		{"maximum_epochs", a.MaximumEpochs, 0, 1e6},
		{"minimum_sessions", float64(a.MinimumSessions), 1, 1e6},
		{"patience_sessions", float64(a.PatienceSessions), 1, 1e6},
		{"maximum_sessions", float64(a.MaximumSessions), 1, 1e6},
	} {
		if !(k.got >= k.low && k.got <= k.top) {
			return fmt.Errorf("schedule.adaptive.%s: got %g, want %g to %g", k.key, k.got, k.low, k.top)
		}
	}
	if a.MaximumSessions < a.MinimumSessions {
		return fmt.Errorf("schedule.adaptive.maximum_sessions: got %d, want at least minimum_sessions, %d", a.MaximumSessions, a.MinimumSessions)
	}
	if a.MaximumEpochs > 0 && a.MaximumEpochs < a.MinimumEpochs {
		return fmt.Errorf("schedule.adaptive.maximum_epochs: got %g, want at least minimum_epochs, %g, or 0", a.MaximumEpochs, a.MinimumEpochs)
	}
	return nil
}

// AdaptiveRule is the adaptive schedule in rollout steps and sessions.
type AdaptiveRule struct {
	Window           int `json:"window"`   // steps
	Minimum          int `json:"minimum"`  // steps
	Patience         int `json:"patience"` // steps
	Maximum          int `json:"maximum"`  // steps
	MinimumSessions  int `json:"minimum_sessions"`
	PatienceSessions int `json:"patience_sessions"`
	MaximumSessions  int `json:"maximum_sessions"`
}

// rule rounds the thresholds to steps, each at least one.
func (a AdaptiveConfig) rule(train, batch, steps int) AdaptiveRule {
	in := func(epochs float64) int { return max(1, modelupdate.PhaseEnd(0, epochs, train, batch)) }
	r := AdaptiveRule{
		Window: in(a.WindowEpochs), Minimum: in(a.MinimumEpochs), Patience: in(a.PatienceEpochs), Maximum: steps,
		MinimumSessions: a.MinimumSessions, PatienceSessions: a.PatienceSessions, MaximumSessions: a.MaximumSessions,
	}
	if a.MaximumEpochs > 0 {
		r.Maximum = min(steps, in(a.MaximumEpochs))
	}
	return r
}

// shortest is the least number of steps of a weight phase that the rule ends: a best average is set by the first step at the earliest.
func (r AdaptiveRule) shortest() int { return max(r.Minimum, r.Patience+1) }

// mostWeight bounds the weight phases of a run: none but the last is shorter than the rule or the cap makes it.
func (r AdaptiveRule) mostWeight(steps int) int {
	size := min(r.shortest(), r.Maximum)
	return (steps + size - 1) / size
}

// mostHarness bounds the harness phases of a run: each follows a weight phase, and none but an only one is shorter than its minimum.
func (r AdaptiveRule) mostHarness(steps, sessions int) int {
	if sessions == 0 {
		return 0
	}
	return min(r.mostWeight(steps), max(1, sessions/r.MinimumSessions))
}

// WindowStop is the adaptive rule's view of a weight phase after a step.
type WindowStop struct {
	Steps  int     `json:"steps"`   // of the phase so far
	Mean   float64 `json:"mean"`    // reward, averaged over the last window
	Best   float64 `json:"best"`    // highest such average of the phase
	BestAt int     `json:"best_at"` // the step of the phase that set it, from 1
	Stop   bool    `json:"stop"`
}

// weigh applies the rule to the rewards of a phase's steps. A window that is not yet full is averaged over what there is, and counts, as in
// the public code of the paper.
func (r AdaptiveRule) weigh(rewards []float64) WindowStop {
	w := WindowStop{Steps: len(rewards), Best: -1}
	for i := range rewards {
		from := max(0, i+1-r.Window)
		w.Mean = 0
		for _, x := range rewards[from : i+1] {
			w.Mean += x
		}
		w.Mean /= float64(i + 1 - from)
		if w.Mean > w.Best {
			w.Best, w.BestAt = w.Mean, i+1
		}
	}
	w.Stop = w.Steps >= r.Minimum && w.Steps-w.BestAt >= r.Patience
	return w
}
