package evolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/metaharness"
)

const (
	minSeen  = 3 // successful episodes that must share a piece of text: what fewer share may be about their answers
	maxMined = 5
)

// mine gives pieces of text that final replies of rewarded episodes share and others lack: examples of a format that works. What holds
// a digit is left out, so that no answer is passed on.
func mine(trajectories []metaharness.Trajectory) []string {
	var passing, failing int
	good, bad := map[string]int{}, map[string]int{}
	for i := range trajectories {
		t := &trajectories[i]
		into := bad
		if t.Reward > 0.5 {
			into = good
			passing++
		} else {
			failing++
		}
		for text := range pieces(finalReply(t)) {
			into[text]++
		}
	}
	type found struct {
		text string
		lift float64
	}
	var all []found
	for text, n := range good {
		lift := float64(n) / float64(passing)
		if failing > 0 {
			lift -= float64(bad[text]) / float64(failing)
		}
		if n >= minSeen && lift >= 0.3 {
			all = append(all, found{text, lift})
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.lift, a.lift), cmp.Compare(len(b.text), len(a.text)), strings.Compare(a.text, b.text))
	})
	var out []string
	for _, f := range all {
		if !slices.ContainsFunc(out, func(s string) bool { return strings.Contains(s, f.text) }) {
			out = append(out, f.text)
		}
		if len(out) == maxMined {
			break
		}
	}
	return out
}

func finalReply(t *metaharness.Trajectory) string {
	for i := range t.Turns {
		if t.Turns[i].N == t.Answer {
			return t.Turns[i].Reply
		}
	}
	if n := len(t.Turns); n > 0 {
		return t.Turns[n-1].Reply
	}
	return ""
}

// pieces gives the runs of two to six words within a line that hold no digit and no placeholder.
func pieces(text string) map[string]bool {
	out := map[string]bool{}
	if len(text) > 8000 {
		text = text[len(text)-8000:]
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for i := range words {
			for n := 2; n <= 6 && i+n <= len(words); n++ {
				s := strings.Join(words[i:i+n], " ")
				if numeric.MatchString(s) || placeholder.MatchString(s) {
					break // and so do all longer ones from here
				}
				if len(s) >= 8 && len(s) <= 120 {
					out[s] = true
				}
			}
		}
	}
	return out
}
