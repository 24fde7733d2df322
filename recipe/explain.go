package recipe

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-095d5d2b/whale/metaharness"
)

// Explain says why each phase ended, with the numbers behind it, and what its search found: one paragraph a phase.
func (st *Story) Explain() []string {
	var out []string
	for i := range st.Phases {
		out = append(out, st.explainPhase(&st.Phases[i]))
	}
	return out
}

func (st *Story) explainPhase(ph *PhaseStory) string {
	var b strings.Builder
	if !ph.Done {
		fmt.Fprintf(&b, "phase %s is not finished\n", ph.Name())
	} else {
		b.WriteString(ph.Text + "\n")
	}
	if ph.Kind == PhaseWeight {
		st.explainSteps(&b, ph)
	} else {
		explainSearch(&b, ph)
		explainChoice(&b, ph)
	}
	for _, h := range st.Halves {
		if h.Cycle == ph.Cycle && ph.Done && st.lastOfCycle(ph) {
			c := h.Cells
			fmt.Fprintf(&b, "  cycle %d on the search split, new rollouts: %.3f before; new weights alone %.3f (%+.3f), new harness alone %.3f (%+.3f), both %.3f (%+.3f)\n",
				h.Cycle, c[0].Mean, c[1].Mean, c[1].Mean-c[0].Mean, c[2].Mean, c[2].Mean-c[0].Mean, c[3].Mean, c[3].Mean-c[0].Mean)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func (st *Story) lastOfCycle(ph *PhaseStory) bool {
	return ph.Index == len(st.Phases)-1 || st.begins(ph.Index+1)
}

// begins says whether a phase begins a cycle.
func (st *Story) begins(i int) bool { return st.Phases[i].Cycle > st.Phases[i-1].Cycle }

func (st *Story) explainSteps(b *strings.Builder, ph *PhaseStory) {
	first, last, empty, accepted, rollouts := -1.0, 0.0, 0, 0, 0
	var windows []string
	var rewards []float64
	for _, s := range st.Steps {
		if s.Phase != ph.Index {
			continue
		}
		if first < 0 {
			first = s.Reward
		}
		last = s.Reward
		accepted, rollouts = accepted+s.Accepted, rollouts+s.Rollouts
		if s.Updates == 0 {
			empty++
		}
		rewards = append(rewards, s.Reward)
		if r := st.rule(); r != nil {
			windows = append(windows, fmt.Sprintf("%.3f", r.weigh(rewards).Mean))
		}
	}
	if len(rewards) == 0 {
		return
	}
	fmt.Fprintf(b, "  %s: reward %.3f at the first, %.3f at the last; learned from %d of %s, from none in %d of the steps\n", english.Plural(len(rewards), "step", ""), first, last, accepted, english.Plural(rollouts, "rollout", ""), empty)
	if ph.ByRule && len(windows) > 0 {
		r := st.rule()
		fmt.Fprintf(b, "  average reward of the last %s, step by step: %s; the rule wants a new best within %s, after at least %d\n", english.Plural(r.Window, "step", ""), strings.Join(windows, " "), english.Plural(r.Patience, "step", ""), r.Minimum)
	}
}

func explainSearch(b *strings.Builder, ph *PhaseStory) {
	if ph.Search != nil {
		best := make([]string, len(ph.Search.Best))
		for i, s := range ph.Search.Best {
			best[i] = fmt.Sprintf("%.3f", s)
		}
		fmt.Fprintf(b, "  best score before the first session and after each: %s\n", strings.Join(best, " "))
	}
	for _, s := range ph.Searched {
		explainSession(b, s)
	}
}

// explainSession says what became of each candidate of a session, and why those without a score have none.
func explainSession(b *strings.Builder, s SearchedSession) {
	counts := map[metaharness.Status]int{}
	gates := map[string]int{}
	var why reasons
	for _, c := range s.Candidates {
		switch c.Status {
		case metaharness.StatusEvaluated, metaharness.StatusStopped, undecided:
			counts[c.Status]++
		case metaharness.StatusRejected:
			gate := told(c.Gate, maxGate)
			gates[gate]++
			why.add("rejected ("+gate+")", c.Reason)
		default:
			counts[metaharness.StatusIncomplete]++
			why.add("not scored", strings.TrimPrefix(c.Reason, "not scored: "))
		}
	}
	fmt.Fprintf(b, "  session %d: %d proposed, %d evaluated", s.Session+1, len(s.Candidates), counts[metaharness.StatusEvaluated])
	for _, g := range sortedKeys(gates) {
		fmt.Fprintf(b, ", %d rejected (%s)", gates[g], g)
	}
	for _, k := range []struct {
		status metaharness.Status
		what   string
	}{{metaharness.StatusStopped, "stopped early"}, {metaharness.StatusIncomplete, "not scored"}, {undecided, "not judged yet"}} {
		if n := counts[k.status]; n > 0 {
			fmt.Fprintf(b, ", %d %s", n, k.what)
		}
	}
	if s.Error != "" {
		fmt.Fprintf(b, "; the proposer failed: %s", told(s.Error, maxReason))
	}
	b.WriteString("\n")
	why.write(b)
}

// explainChoice says what paired tests and fresh episodes decided, where the run's selection has them.
func explainChoice(b *strings.Builder, ph *PhaseStory) {
	for _, c := range ph.Choices {
		for _, t := range c.Tests {
			verdict := "not better"
			if t.Better {
				verdict = "better"
			}
			fmt.Fprintf(b, "  paired test (%s, level %.4g): %s against %s: won %d, lost %d, p %.4g: %s\n", c.Test, c.Level, t.Challenger.Short(), c.Incumbent.Short(), t.Wins, t.Losses, t.P, verdict)
		}
	}
	if c := ph.Confirmation; c != nil {
		fmt.Fprintf(b, "  fresh episodes, %d an example:", c.Draws)
		for i, p := range c.Programs {
			who := p.ID.Short()
			if i == 0 {
				who += " (incoming)"
			}
			if p.Missing != "" {
				fmt.Fprintf(b, " %s not scored;", who)
				continue
			}
			fmt.Fprintf(b, " %s %.3f;", who, p.Mean)
		}
		fmt.Fprintf(b, " accepted %s\n", c.Accepted.Short())
	}
}

// rule is the adaptive rule in the run's steps, as its phases show it; nil for other methods.
func (st *Story) rule() *AdaptiveRule {
	if r := st.Begin.Rule; r != nil && r.Window > 0 { // no run wrote another window
		return r
	}
	return nil
}
