package recipe

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml"

	"github.com/seed-095d5d2b/whale/modelupdate"
)

// The methods of one config (WHALE, section 2). Their totals are those that whale's cycles add up to.
const (
	MethodWhale       = "whale"        // weight and harness phases in turns
	MethodAdaptive    = "adaptive"     // the same, and a phase ends when its own training signal stops improving
	MethodWeightOnly  = "weight-only"  // the weight phases' steps under h_0
	MethodHarnessOnly = "harness-only" // the harness phases' sessions under θ_0
	MethodFST         = "fst"          // whale, and candidates may differ from h_0 in the two prompt constants alone
	MethodStagewise   = "stagewise"    // all steps, then all sessions
)

// Methods lists all of them, in the order of the paper's table.
func Methods() []string {
	return []string{MethodWhale, MethodAdaptive, MethodWeightOnly, MethodHarnessOnly, MethodFST, MethodStagewise}
}

// Schedule says in what turns the budget is spent, and how large it is.
type Schedule struct {
	Method      string         `yaml:"method"`           // whale, adaptive, weight-only, harness-only, fst or stagewise
	Epochs      float64        `yaml:"epochs"`           // E: epochs of D_weight a weight phase
	Sessions    int            `yaml:"sessions"`         // I: proposer sessions a harness phase
	TotalEpochs float64        `yaml:"total_epochs"`     // of all weight phases; the last cycle is cut to it
	Cycles      []CycleConfig  `yaml:"cycles,omitempty"` // (E, I) of each cycle, in place of epochs, sessions and total_epochs
	LastHarness bool           `yaml:"last_harness"`     // the last cycle has its harness phase too
	Adaptive    AdaptiveConfig `yaml:"adaptive"`
}

// CycleConfig is one cycle of a schedule that is given as a list.
type CycleConfig struct {
	Epochs   float64 `yaml:"epochs"`
	Sessions int     `yaml:"sessions"`
}

// MarshalYAML writes the size in the way in which it was given.
func (s Schedule) MarshalYAML() (any, error) {
	type plain Schedule
	if len(s.Cycles) == 0 {
		return plain(s), nil
	}
	return struct {
		Method      string         `yaml:"method"`
		Cycles      []CycleConfig  `yaml:"cycles"`
		LastHarness bool           `yaml:"last_harness"`
		Adaptive    AdaptiveConfig `yaml:"adaptive"`
	}{s.Method, s.Cycles, s.LastHarness, s.Adaptive}, nil
}

// oneSize refuses a schedule that gives its size twice: as a list of cycles, and by the keys that a list stands for.
func oneSize(data []byte) error {
	var given struct {
		Schedule map[string]any `yaml:"schedule"`
	}
	if err := yaml.Unmarshal(data, &given); err != nil || given.Schedule["cycles"] == nil {
		return err
	}
	for _, key := range []string{"epochs", "sessions", "total_epochs"} {
		if _, ok := given.Schedule[key]; ok {
			return fmt.Errorf("schedule.%s: given beside schedule.cycles, which stands in its place; leave one of them out", key)
		}
	}
	return nil
}

// span is a cycle in steps and sessions, both counted from the start of the run.
type span struct{ to, sessions int }

// maxCycles bounds a plan. More is a mistake in the schedule, and would fill memory with phases.
const maxCycles = 10_000

// spans lays out the cycles. Phase ends are cumulative, so that rounding never drifts; the last cycle is cut to the total.
func (s Schedule) spans(train, batch int) ([]span, error) {
	var out []span
	if len(s.Cycles) > 0 {
		epochs := 0.0
		for _, c := range s.Cycles {
			epochs += c.Epochs
			out = append(out, span{to: modelupdate.PhaseEnd(0, epochs, train, batch), sessions: c.Sessions})
		}
		if out[len(out)-1].to < 1 {
			return nil, configErrorf("schedule.cycles: got %g epochs in all, which is no step of %d examples out of %d; want more epochs or a smaller weight.batch", epochs, batch, train)
		}
	} else {
		total := modelupdate.PhaseEnd(0, s.TotalEpochs, train, batch)
		if total < 1 {
			return nil, configErrorf("schedule.total_epochs: got %g, which is no step of %d examples out of %d; want more epochs or a smaller weight.batch", s.TotalEpochs, batch, train)
		}
		cycles := math.Ceil(s.TotalEpochs/s.Epochs - 1e-9)
		if cycles > maxCycles {
			return nil, configErrorf("schedule.epochs: got %g, which makes %.0f cycles of schedule.total_epochs %g, want at most %d", s.Epochs, cycles, s.TotalEpochs, maxCycles)
		}
		for k := range int(cycles) {
			out = append(out, span{to: min(total, modelupdate.PhaseEnd(k, s.Epochs, train, batch)), sessions: s.Sessions})
		}
		out[len(out)-1].to = total
	}
	if !s.LastHarness {
		out[len(out)-1].sessions = 0
	}
	for k := 1; k < len(out); k++ {
		out[k].sessions += out[k-1].sessions
	}
	return out, nil
}

// validate names the first setting that makes no sense.
func (s Schedule) validate() error {
	if len(s.Cycles) > maxCycles {
		return fmt.Errorf("schedule.cycles: got %d, want at most %d", len(s.Cycles), maxCycles)
	}
	for i, c := range s.Cycles {
		if !(c.Epochs >= 0 && c.Epochs <= 1e6) {
			return fmt.Errorf("schedule.cycles[%d].epochs: got %g, want 0 to 1e6", i, c.Epochs)
		}
		if c.Sessions < 0 || c.Sessions > 1e6 {
			return fmt.Errorf("schedule.cycles[%d].sessions: got %d, want 0 to 1e6", i, c.Sessions)
		}
	}
	return s.Adaptive.validate()
}
