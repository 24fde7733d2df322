package metaharness

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
)

const maxGroups = 20

var digits = regexp.MustCompile(`[0-9]+`)

// failureGroup is a set of episodes that failed for the same reason.
type failureGroup struct {
	reason string // with numbers as #
	count  int
	n      int // the first example
	sample *whale.Rollout
}

// failureGroups gathers what was not rewarded by reason, most frequent first.
func failureGroups(rollouts []whale.Rollout) []failureGroup {
	var groups []failureGroup
	byReason := map[string]int{}
	for i := range rollouts {
		r := &rollouts[i]
		if r.Reward() > 0.5 {
			continue
		}
		reason := failureReason(r)
		at, ok := byReason[reason]
		if !ok {
			at = len(groups)
			byReason[reason] = at
			groups = append(groups, failureGroup{reason: reason, n: i + 1, sample: r})
		}
		groups[at].count++
	}
	slices.SortStableFunc(groups, func(a, b failureGroup) int { return cmp.Compare(b.count, a.count) })
	return groups
}

func failureReason(r *whale.Rollout) string {
	text := r.Verdict.Reason
	if f := r.Episode.Failure; f != nil {
		text = string(f.Reason) + ": " + f.Detail
	}
	if text = digits.ReplaceAllString(oneLine(text, maxLabel), "#"); text == "" {
		return "no reason given"
	}
	return text
}

// failuresMarkdown is failures.md.
func failuresMarkdown(s *Score, rollouts []whale.Rollout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What failed\n\n%d of %d episodes were rewarded; %d broke a rule or a limit.\n", s.Passed, s.Examples, s.Failed)
	groups := failureGroups(rollouts)
	for i, g := range groups {
		if i == maxGroups {
			fmt.Fprintf(&b, "\nand %d rarer reasons\n", len(groups)-maxGroups)
			break
		}
		fmt.Fprintf(&b, "\n## %d × %s\n\nFor example number %d:\n\n", g.count, g.reason, g.n)
		for _, key := range slices.Sorted(maps.Keys(g.sample.Episode.View)) {
			fmt.Fprintf(&b, "- %s: %s\n", key, oneLine(g.sample.Episode.View[key], 400))
		}
		if n := len(g.sample.Episode.Calls); n > 0 {
			last := g.sample.Episode.Calls[n-1]
			fmt.Fprintf(&b, "- last of %d replies (finish: %s): %s\n", n, last.Completion.Finish, oneLine(last.Text, 600))
		} else {
			b.WriteString("- the model was never called\n")
		}
	}
	return b.String()
}
