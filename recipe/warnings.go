package recipe

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize/english"
)

// minimumIterations is how many proposer sessions a harness phase needs before "nothing better was found" says anything.
const minimumIterations = 3

// hopedFor is the smallest gain of whale over a single half that the paper reports (WHALE, section 3): 7.67 points.
const hopedFor = 0.0767

// Warnings say where a budget is too small to mean anything.
func (p Plan) Warnings(c Config) []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if p.Sessions > 0 && p.Adaptive == nil {
		fewest := p.Sessions
		for _, ph := range p.Phases {
			if ph.Kind == PhaseHarness {
				fewest = min(fewest, ph.Sessions)
			}
		}
		if fewest < minimumIterations {
			warn("a harness phase has %s; with fewer than %d a search has hardly begun, and what it accepts may be luck", english.Plural(fewest, "proposer session", ""), minimumIterations)
		}
	}
	if a := p.Adaptive; a != nil && p.Sessions > 0 {
		if p.Sessions < 2*a.MinimumSessions {
			warn("there are %s in all and schedule.adaptive.minimum_sessions is %d: that is no more than one harness phase, after all steps", english.Plural(p.Sessions, "proposer session", ""), a.MinimumSessions)
		}
		if a.MaximumSessions <= max(a.MinimumSessions, a.PatienceSessions) {
			warn("every harness phase has %s: the rule can end none between schedule.adaptive.minimum_sessions, %d, or patience_sessions, %d, and maximum_sessions, %d",
				english.Plural(a.MaximumSessions, "session", ""), a.MinimumSessions, a.PatienceSessions, a.MaximumSessions)
		}
		if a.Maximum <= a.shortest() && a.Maximum < p.Steps {
			warn("every weight phase but the last has %s: the rule can end none before step %d of a phase (schedule.adaptive.minimum_epochs and patience_epochs), and maximum_epochs ends it at %d",
				english.Plural(a.Maximum, "step", ""), a.shortest(), a.Maximum)
		}
		if a.MinimumSessions < minimumIterations {
			warn("a harness phase may end after %s (schedule.adaptive.minimum_sessions); with fewer than %d a search has hardly begun, and what it accepts may be luck", english.Plural(a.MinimumSessions, "session", ""), minimumIterations)
		}
	}
	if window := c.Schedule.Adaptive.rule(p.sizes.Train, c.Weight.Batch, p.Steps).Window; p.Adaptive == nil {
		for _, ph := range p.Phases {
			if ph.Kind == PhaseWeight && ph.Steps < window {
				warn("weight phase %s has %s, fewer than one window of the adaptive rule (%d steps, schedule.adaptive.window_epochs): too short to see the reward improve", ph.Name(), english.Plural(ph.Steps, "step", ""), window)
				break
			}
		}
	}
	if half := halfWidth(p.evaluated(), c.Evaluation.Draws); half > hopedFor {
		warn("the %s split has %d examples: mean@%d has a 95%% interval of up to ±%.1f points, wider than the %.2f points that the smallest gain of the paper is; a gain of that size may not show in one run",
			c.Evaluation.Split, p.evaluated(), c.Evaluation.Draws, 100*half, 100*hopedFor)
	}
	if half := halfWidth(p.sizes.Search, 1); p.Sessions > 0 && half > 2*hopedFor {
		warn("the search split has %d examples: a candidate's score has a 95%% interval of up to ±%.0f points, so that the best of %d candidates may well be luck; see search.selection", p.sizes.Search, 100*half, c.Search.Candidates)
	}
	return out
}

// halfWidth is half of the widest 95% interval of a mean over examples of mean rewards over draws. Draws of one example are alike: half of the
// variance at accuracy 1/2 is taken to lie between examples, which more draws do not lessen.
func halfWidth(examples, draws int) float64 {
	if examples < 1 {
		return 1
	}
	const variance, between = 0.25, 0.5
	return 1.96 * math.Sqrt(variance*(between+(1-between)/float64(max(1, draws)))/float64(examples))
}
