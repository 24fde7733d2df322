package metaharness

import (
	"testing"

	"pgregory.net/rapid"
)

func scored(passed, sampled int) Entry {
	return Entry{Decision: Decision{Status: StatusEvaluated, Score: &Score{Examples: 10, Passed: passed, SampledTokens: sampled}}}
}

func TestBest(t *testing.T) {
	incomplete := Entry{Decision: Decision{Status: StatusIncomplete, Score: &Score{Passed: 10}}}
	rejected := Entry{Decision: Decision{Status: StatusRejected}}
	for _, c := range []struct {
		name      string
		entries   []Entry
		incumbent int
		want      int
	}{
		{"the highest score", []Entry{scored(3, 1), scored(5, 9), scored(4, 1)}, 0, 1},
		{"a tie: fewer sampled tokens", []Entry{scored(5, 9), scored(5, 8), scored(5, 10)}, 0, 1},
		{"a full tie: the incumbent", []Entry{scored(5, 9), scored(5, 9), scored(5, 9)}, 1, 1},
		{"a full tie with the incumbent last", []Entry{scored(5, 9), scored(5, 9)}, 1, 1},
		{"a full tie without the incumbent: the earlier", []Entry{scored(4, 9), scored(5, 9), scored(5, 9)}, 0, 1},
		{"incomplete and rejected ones are not ranked", []Entry{scored(1, 9), incomplete, rejected}, 0, 0},
		{"nothing to rank", []Entry{incomplete, rejected}, -1, -1},
	} {
		if got := best(c.entries, c.incumbent); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// What is accepted is never beaten by anything in the archive, and choosing again changes nothing.
func TestBestIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		var entries []Entry
		incumbent := -1
		for range n {
			entries = append(entries, scored(rapid.IntRange(0, 3).Draw(t, "passed"), rapid.IntRange(0, 2).Draw(t, "sampled")))
			next := best(entries, incumbent)
			if incumbent >= 0 && next != incumbent {
				a, b := entries[next].Score, entries[incumbent].Score
				if a.Passed < b.Passed || a.Passed == b.Passed && a.SampledTokens >= b.SampledTokens {
					t.Fatalf("incumbent %+v gave way to %+v", b, a)
				}
			}
			incumbent = next
			if again := best(entries, incumbent); again != incumbent {
				t.Fatalf("choosing again: got %d, want %d", again, incumbent)
			}
		}
	})
}
