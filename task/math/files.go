package math

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
)

// dropped counts what the files hold and the task does not.
type dropped struct {
	duplicates int                    // repeated in their split, with the same answer
	several    map[whale.Split]int    // problems with several answers
	shared     map[[2]whale.Split]int // problems of the first split that are in the second too
	notes      []string               // of the files
}

// load reads the files of every split. A problem that is twice in a split counts once, if its answers agree; one that is in two splits
// would let a split leak into another, and is refused or, with RepeatsDrop, taken out of the one that is nearer to training.
func (t *Task) load(ctx context.Context, c Config) error {
	drop := c.Repeats == RepeatsDrop
	t.dropped = dropped{several: make(map[whale.Split]int), shared: make(map[[2]whale.Split]int)}
	order := splits()
	if drop {
		slices.Reverse(order) // the test split keeps what it has
	}
	owner := make(map[string]place) // by example ID
	for _, s := range order {
		several := make(map[string]bool)
		shared := make(map[string]whale.Split)
		for _, path := range c.Files[s] {
			if err := ctx.Err(); err != nil {
				return err
			}
			loaded, err := load(path, drop)
			if err != nil {
				return err
			}
			t.dropped.duplicates += loaded.Duplicates
			t.dropped.notes = append(t.dropped.notes, loaded.Notes...)
			for id := range loaded.conflicts {
				several[id] = true
			}
			for i, x := range loaded.Examples {
				here := place{path, loaded.Lines[i], s, x}
				before, ok := owner[x.ID]
				switch {
				case !ok:
					owner[x.ID] = here
					t.examples[s] = append(t.examples[s], x)
					continue
				case before.split != s && drop:
					shared[x.ID] = before.split
					continue
				case before.split != s:
					return fmt.Errorf("math: %s:%d: got problem %s in split %s, but it is in split %s already, at %s:%d", path, here.line, name(x), s,
						before.split, before.path, before.line)
				}
				if err := here.repeats(before); err != nil {
					if !drop {
						return err
					}
					several[x.ID] = true
					continue
				}
				t.dropped.duplicates++
			}
		}
		for id, other := range shared {
			t.dropped.shared[[2]whale.Split{s, other}]++
			delete(several, id) // it is not in this split anyway
		}
		t.dropped.several[s] = len(several)
		t.examples[s] = slices.DeleteFunc(t.examples[s], func(x whale.Example) bool { return several[x.ID] })
		if len(c.Files[s]) > 0 && len(t.examples[s]) == 0 {
			return fmt.Errorf("math: files.%s: no problem is left after those are dropped that are in other splits or have several answers", s)
		}
	}
	return t.draw(c.Draw)
}

// draw takes the examples of splits that have no files out of the train split: the first in the order of a hash of seed and example, so that neither the order of the files nor what
// else they hold decides.
func (t *Task) draw(o DrawOptions) error {
	n := o.Search + o.Validation
	if n == 0 {
		return nil
	}
	pool := t.examples[whale.SplitTrain]
	if n >= len(pool) {
		return fmt.Errorf("math: draw: got %d search and %d validation examples to draw from %d train examples, want fewer", o.Search, o.Validation, len(pool))
	}
	type ticket struct {
		hash whale.ID
		at   int
	}
	tickets := make([]ticket, len(pool))
	for i, x := range pool {
		tickets[i] = ticket{whale.HashBytes(fmt.Sprintf("math/draw/%d", o.Seed), []byte(x.ID)), i}
	}
	slices.SortFunc(tickets, func(a, b ticket) int { return cmp.Compare(a.hash, b.hash) })
	left := slices.Clone(pool)
	take := func(s whale.Split, from []ticket, remove bool) {
		slices.SortFunc(from, func(a, b ticket) int { return a.at - b.at }) // in the order of the files
		for _, k := range from {
			t.examples[s] = append(t.examples[s], pool[k.at])
			if remove {
				left[k.at].ID = ""
			}
		}
	}
	take(whale.SplitSearch, tickets[:o.Search], !o.Shared)
	take(whale.SplitValidation, tickets[o.Search:n], true)
	t.examples[whale.SplitTrain] = slices.DeleteFunc(left, func(x whale.Example) bool { return x.ID == "" })
	return nil
}

// sameAnswer compares two answers of examples as the strict verifier would.
func sameAnswer(a, b json.RawMessage) bool {
	var x, y string
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && answer.Canonical(x) == answer.Canonical(y)
}

// Duplicates tells how many problems of the files were dropped as repetitions within their split, with the same answer.
func (t *Task) Duplicates() int { return t.dropped.duplicates }

// Notes tells people, a line each, what they may not expect of the task's data; nothing where there is nothing to tell.
func (t *Task) Notes() []string {
	var notes []string
	switch d := t.dropped.duplicates; {
	case d == 1:
		notes = append(notes, "math: dropped 1 problem that repeats another of its split, with the same answer")
	case d > 1:
		notes = append(notes, fmt.Sprintf("math: dropped %d problems that repeat others of their split, with the same answers", d))
	}
	for _, s := range splits() {
		if n := t.dropped.several[s]; n > 0 {
			notes = append(notes, fmt.Sprintf("math: dropped %d problems of split %s that have several answers", n, s))
		}
		for _, other := range splits() {
			if n := t.dropped.shared[[2]whale.Split{s, other}]; n > 0 {
				notes = append(notes, fmt.Sprintf("math: dropped %d problems of split %s that are in split %s too", n, s, other))
			}
		}
	}
	if d := t.config.Draw; d.Search+d.Validation > 0 {
		shared := ""
		if d.Shared {
			shared = "; the search examples stay in train too"
		}
		notes = append(notes, fmt.Sprintf("math: drew %d search and %d validation examples from the train files, which leaves %d to train on%s",
			d.Search, d.Validation, len(t.examples[whale.SplitTrain]), shared))
	}
	return append(notes, t.dropped.notes...)
}
