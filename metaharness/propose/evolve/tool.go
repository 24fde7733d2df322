package evolve

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// minQuote is the least length in bytes of a text that can be told to quote another.
const minQuote = 4

// toolStudy is how a program's episodes use their most frequent tool. Shares are of its calls.
type toolStudy struct {
	name  string
	calls int

	// The argument that is filled with words of the task, and the field of the task that they come from; "" where there is none. A tool
	// that is asked in the task's own words looks something up.
	arg, field string
	quoting    float64 // the argument is made of the field's words
	whole      float64 // the argument is most of the field's text as it stands

	failed  float64 // it answered with an error
	clipped float64 // the model was shown a part of the result only
	asking  float64 // the result holds a question, which is no answer to one
	several float64 // the result has several paragraphs
}

// looksUp says whether the tool is one that is asked in the task's words.
func (t *toolStudy) looksUp() bool { return t != nil && t.arg != "" && t.quoting >= 0.2 }

// studyTool studies the tool that is called most, or gives nil where none is.
func studyTool(trajectories []metaharness.Trajectory) *toolStudy {
	counts := map[string]int{}
	eachUse(trajectories, func(_ *metaharness.Trajectory, u *metaharness.ToolUse, _ string) { counts[u.Name]++ })
	name := mostFrequent(counts)
	if name == "" {
		return nil
	}
	s := &toolStudy{name: name, calls: counts[name]}
	type source struct{ arg, field string }
	quoting, whole := map[source]int{}, map[source]int{}
	eachUse(trajectories, func(t *metaharness.Trajectory, u *metaharness.ToolUse, shown string) {
		if u.Name != name {
			return
		}
		s.failed += share(u.Error != "")
		s.asking += share(strings.Contains(u.Text, "?"))
		s.several += share(strings.Contains(strings.TrimSpace(u.Text), "\n"))
		s.clipped += share(shown != "" && len(shown) < len(u.Text) && strings.HasPrefix(u.Text, strings.TrimRight(shown, ".… \n")))
		for arg, value := range u.Args {
			for field, text := range t.View {
				if from := (source{arg, field}); len(value) >= minQuote && quotes(text, value) {
					quoting[from]++
					whole[from] += int(share(2*len(value) >= len(text)))
				}
			}
		}
	})
	n := float64(s.calls)
	for _, v := range []*float64{&s.failed, &s.asking, &s.several, &s.clipped} {
		*v /= n
	}
	order := func(a, b source) int { return cmp.Or(cmp.Compare(a.arg, b.arg), cmp.Compare(a.field, b.field)) }
	best := source{}
	for _, from := range slices.SortedFunc(maps.Keys(quoting), order) {
		if quoting[from] > quoting[best] {
			best = from
		}
	}
	s.arg, s.field, s.quoting, s.whole = best.arg, best.field, float64(quoting[best])/n, float64(whole[best])/n
	return s
}

// quotes says whether a value is words of a text: it stands in the text, letters and spaces and all, or the text stands in it.
func quotes(text, value string) bool {
	letters := strings.ContainsFunc(value, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= utf8.RuneSelf })
	return letters && (strings.Contains(text, value) || len(text) >= minQuote && strings.Contains(value, text))
}

// eachUse visits the tool calls of episodes, with what the model was shown of each where that can be told.
func eachUse(trajectories []metaharness.Trajectory, visit func(t *metaharness.Trajectory, u *metaharness.ToolUse, shown string)) {
	for i := range trajectories {
		t := &trajectories[i]
		for j := range t.Tools {
			visit(t, &t.Tools[j], "")
		}
		for j := range t.Turns {
			shown := ""
			if j+1 < len(t.Turns) && len(t.Turns[j].Tools) == 1 {
				for _, m := range t.Turns[j+1].Messages {
					if m.ReplyOf == 0 && m.Role != whale.RoleSystem {
						shown = m.Content
						break
					}
				}
			}
			for k := range t.Turns[j].Tools {
				visit(t, &t.Turns[j].Tools[k], shown)
			}
		}
	}
}

// replyTokens is the length in tokens that most replies keep to which ended by themselves (95 in 100 of them); 0 where there are none.
func replyTokens(trajectories []metaharness.Trajectory) int {
	var lengths []int
	for i := range trajectories {
		for _, turn := range trajectories[i].Turns {
			if turn.Finish == whale.FinishStop {
				lengths = append(lengths, turn.Tokens)
			}
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[(len(lengths)-1)*95/100]
}
