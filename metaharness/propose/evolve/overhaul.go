package evolve

import (
	"math"

	"github.com/seed-095d5d2b/whale"
)

// planOf says what candidate i of a session is to be. A search begins with large steps; then they take turns with small ones.
func (s *session) planOf(i int, in whale.Session) plan {
	tried := 0
	for _, line := range s.ws.index {
		tried += int(share(line.Session >= 0))
	}
	kind := plan(i % int(plans))
	if in.Candidates == 1 {
		kind = plan(in.Index % int(plans))
	}
	switch {
	case s.promptOnly:
		return kind
	case tried == 0 && i < 3, kind == combine && s.rand.IntN(2) == 0:
		return rebuild
	}
	return kind
}

// attempt makes a candidate of a kind. The first rebuild of a session leaves nothing out; once there is nothing left to rebuild, it is a
// combination of small edits.
func (s *session) attempt(parent *archived, kind plan, sharpness float64, try int) (candidate, bool) {
	if kind != rebuild {
		return s.compose(parent, kind, sharpness)
	}
	if try < maxRebuilds {
		c, ok := s.overhaul(parent, rebuildShares[min(s.rebuilds, len(rebuildShares)-1)])
		s.rebuilds++
		if ok {
			return c, ok
		}
	}
	return s.compose(parent, combine, sharpness)
}

// maxRebuilds bounds the tries of a rebuild before smaller edits are tried.
const maxRebuilds = 20

// rebuildShares are the chances that a technique is kept, by how many rebuilds of the session came before.
var rebuildShares = []float64{1, 0.75, 0.75, 0.6}

// overhaul applies, one after the other, the techniques that a program does not use yet and that evidence speaks for, each with the chance
// keep. Early in a search a large step shows more than a small one can: what episodes lack is often several things at once, and each is
// of no use without the others.
func (s *session) overhaul(parent *archived, keep float64) (candidate, bool) {
	c := candidate{source: parent.source, parent: parent, kind: rebuild}
	p := parent.program
	e := s.evidenceOf(parent)
	for _, op := range techniqueOrder {
		m := s.formOf(op, techniques(p, e))
		if m == nil || keep < 1 && s.rand.Float64() >= keep {
			continue
		}
		next, err := splice(c.source, m.edits)
		if err != nil {
			return c, false
		}
		if p, err = parse(next, s.ws.lib); err != nil {
			return c, false
		}
		c.source = next
		c.used = append(c.used, *m)
	}
	return c, len(c.used) > 0
}

// formOf draws one of a technique's forms, mostly the likeliest; nil where it has none.
func (s *session) formOf(op string, all []mutation) *mutation {
	var forms []int
	var weights []float64
	for i := range all {
		if all[i].op == op {
			forms = append(forms, i)
			weights = append(weights, math.Pow(all[i].weight*s.bandit.factor(&all[i]), 1.5))
		}
	}
	if len(forms) == 0 {
		return nil
	}
	return &all[forms[draw(s.rand, weights)]]
}
