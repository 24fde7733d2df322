package evolve

import "github.com/seed-095d5d2b/whale/metaharness"

// bandit remembers which edits paid off in this archive. A candidate of several edits shares its credit among them.
type bandit struct {
	keys, axes map[string]*tally
}

type tally struct{ tries, wins float64 }

func learn(index []metaharness.IndexLine) *bandit {
	b := &bandit{keys: map[string]*tally{}, axes: map[string]*tally{}}
	for _, line := range index {
		if line.Session < 0 {
			continue
		}
		win := 0.0
		if line.Delta != nil && *line.Delta > 0 {
			win = 1
		}
		credit := 1 / float64(max(1, len(line.Operators)))
		if line.Delta != nil && *line.Delta == 0 {
			credit *= 2 // it changed nothing that episodes met: a second try will hardly
		}
		for _, key := range line.Operators {
			b.keys[key] = b.keys[key].plus(credit, win)
		}
		if line.Axis != "" {
			b.axes[line.Axis] = b.axes[line.Axis].plus(1, win)
		}
	}
	return b
}

func (t *tally) plus(tries, win float64) *tally {
	if t == nil {
		t = &tally{}
	}
	t.tries += tries
	t.wins += tries * win
	return t
}

// factor is the odds of success after some tries against those before any, with a prior of strength tries at one success in three.
func (t *tally) factor(strength float64) float64 {
	if t == nil {
		return 1
	}
	return 3 * (t.wins + strength/3) / (t.tries + strength)
}

func (b *bandit) factor(m *mutation) float64 {
	return b.keys[m.key()].factor(1) * b.axes[string(m.axis)].factor(6)
}
