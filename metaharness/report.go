package metaharness

import (
	"fmt"
	"strings"
)

// writeReport writes reports/session-<n>.md: what became of a session's candidates, for the sessions that follow.
func (a *archive) writeReport(s SessionResult) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %d\n\n", s.Session)
	if s.Error != "" {
		fmt.Fprintf(&b, "The session failed: %s\n\n", oneLine(s.Error, maxReason))
	}
	if len(s.Candidates) == 0 {
		b.WriteString("It gave no candidates.\n")
	}
	decided := a.entries[len(a.entries)-len(s.Candidates):]
	for _, e := range decided {
		l := a.line(e)
		fmt.Fprintf(&b, "## %s (%s): %s\n\n", e.Name, e.ID, e.Status)
		switch {
		case l.Mean != nil:
			fmt.Fprintf(&b, "Score %.4f, %+.4f against its parent, %d sampled tokens.\n", *l.Mean, *l.Delta, l.Sampled)
		case e.Gate != "":
			fmt.Fprintf(&b, "Gate %s: %s\n", e.Gate, e.Reason)
		default:
			fmt.Fprintf(&b, "%s\n", e.Reason)
		}
		if e.Hypothesis != "" {
			fmt.Fprintf(&b, "\nHypothesis: %s\n", oneLine(e.Hypothesis, maxReason))
		}
		if e.Note != "" {
			fmt.Fprintf(&b, "\nNote: %s\n", e.Note)
		}
		b.WriteString("\n")
	}
	if len(s.Discarded) > 0 {
		b.WriteString("## Files that were no candidates\n\n")
		for _, d := range s.Discarded {
			fmt.Fprintf(&b, "- %q: %s\n", d.Name, d.Reason)
		}
		b.WriteString("\n")
	}
	best := a.accepted()
	fmt.Fprintf(&b, "Best so far: %s (%s) with %.4f.\n", best.ID, best.Name, best.Score.Mean)
	return a.write(fmt.Sprintf("reports/session-%04d.md", s.Session), []byte(b.String()))
}
