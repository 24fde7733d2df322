package evolve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// plan is the kind of a candidate.
type plan int

const (
	exploit plan = iota // one edit of the best program, where evidence is strongest
	combine             // two or three edits along different axes
	explore             // one edit of any good program, nearly regardless of evidence
	plans

	rebuild = plans // all techniques at once that evidence speaks for, or most of them
)

// sharpness is the power to which weights are raised: the higher, the surer the likeliest is taken.
func (k plan) sharpness() float64 { return [...]float64{3.5, 1.5, 0.5, 1.5}[k] }

func (k plan) String() string { return [...]string{"exploit", "combine", "explore", "rebuild"}[k] }

// pickParent takes the accepted program, or by score one of the archive.
func (s *session) pickParent(k plan) *archived {
	var usable []*archived
	var best *archived
	for i := range s.ws.programs {
		a := &s.ws.programs[i]
		if a.program == nil {
			continue
		}
		usable = append(usable, a)
		if a.line.Accepted {
			best = a
		}
	}
	if len(usable) == 0 {
		return nil
	}
	if best == nil {
		best = slices.MaxFunc(usable, func(a, b *archived) int { return cmp.Compare(*a.line.Mean, *b.line.Mean) })
	}
	stay := [...]float64{1, 0.8, 0.5, 0.8}[k]
	if s.rand.Float64() < stay {
		return best
	}
	weights := make([]float64, len(usable))
	for i, a := range usable {
		weights[i] = math.Exp((*a.line.Mean - *best.line.Mean) / 0.1)
	}
	return usable[draw(s.rand, weights)]
}

// pick takes one mutation: first a group, by prior, evidence and experience, then a value in it. Groups that used forbids are left
// out. It gives nil where nothing is left.
func (s *session) pick(mutations []mutation, e *evidence, sharpness float64, used []mutation) *mutation {
	var groups [][]int // indices of mutations
	index := map[string]int{}
	for i := range mutations {
		m := &mutations[i]
		if clashes(m, used) {
			continue
		}
		g, ok := index[m.group()]
		if !ok {
			g = len(groups)
			index[m.group()] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	if len(groups) == 0 {
		return nil
	}
	weights := make([]float64, len(groups))
	inner := make([][]float64, len(groups))
	for i, members := range groups {
		sum, experience := 0.0, 0.0
		for _, at := range members {
			m := &mutations[at]
			w := m.weight * s.bandit.factor(m)
			inner[i] = append(inner[i], math.Pow(w, sharpness))
			sum += m.weight
			experience += w
		}
		first := &mutations[members[0]]
		w := priors[first.op] * e.weight(first.axis) * experience / sum
		if first.scale > 0 {
			w *= first.scale
		}
		if first.op == opCrossover || first.op == opLocal {
			w *= min(4, sum/float64(len(members))) // how good the donors are
		}
		weights[i] = math.Pow(w, sharpness)
	}
	i := draw(s.rand, weights)
	return &mutations[groups[i][draw(s.rand, inner[i])]]
}

// clashes says whether a mutation would undo or repeat an earlier one of the same candidate, or stays on its axis.
func clashes(m *mutation, used []mutation) bool {
	return slices.ContainsFunc(used, func(u mutation) bool { return m.target == u.target || m.axis == u.axis && m.axis != axisOther })
}

// draw gives an index with a chance in proportion to its weight.
func draw(r *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	x := r.Float64() * sum
	for i, w := range weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return len(weights) - 1
}
