package report

import (
	"math"
	"slices"
)

// meanCurve averages the curves of an arm's runs. Where they have the same points, each point is averaged; where they have not (phases that end by
// rule), the curves are taken as steps that hold until the next point, and averaged between the last start and the first end.
func meanCurve(runs []*Run) []Mean {
	var curves [][]Point
	for _, r := range runs {
		if len(r.Curve) > 0 {
			curves = append(curves, r.Curve)
		}
	}
	if len(curves) == 0 {
		return nil
	}
	n := float64(len(curves))
	if samePoints(curves) {
		out := make([]Mean, len(curves[0]))
		for _, c := range curves {
			for i, p := range c {
				out[i].Rollouts += float64(p.Rollouts) / n
				out[i].Accuracy += p.Accuracy / n
			}
		}
		return out
	}
	from, to := 0, math.MaxInt
	var at []int
	for _, c := range curves {
		from, to = max(from, c[0].Rollouts), min(to, c[len(c)-1].Rollouts)
		for _, p := range c {
			at = append(at, p.Rollouts)
		}
	}
	slices.Sort(at)
	var out []Mean
	for _, x := range slices.Compact(at) {
		if x < from || x > to {
			continue
		}
		m := Mean{Rollouts: float64(x)}
		for _, c := range curves {
			m.Accuracy += holds(c, x) / n
		}
		out = append(out, m)
	}
	return out
}

func samePoints(curves [][]Point) bool {
	for _, c := range curves[1:] {
		if !slices.EqualFunc(c, curves[0], func(a, b Point) bool { return a.At == b.At && a.Steps == b.Steps && a.Sessions == b.Sessions }) {
			return false
		}
	}
	return true
}

// holds is the accuracy of the last point at or before x.
func holds(c []Point, x int) float64 {
	last := c[0].Accuracy
	for _, p := range c {
		if p.Rollouts <= x {
			last = p.Accuracy
		}
	}
	return last
}

// passing says for each arm with a finished seed, and each arm, after how many training rollouts the other's curve reaches its final accuracy.
func (g *Group) passing() {
	for i := range g.Arms {
		of := &g.Arms[i]
		if len(of.Seeds) == 0 || of.Spent == 0 {
			continue
		}
		for j := range g.Arms {
			a := &g.Arms[j]
			if i == j || len(a.Curve) == 0 {
				continue
			}
			p := Passing{Arm: a.Label, Of: of.Label, Level: of.Final, Total: of.Spent}
			for _, m := range a.Curve {
				if m.Accuracy >= p.Level {
					share := m.Rollouts / p.Total
					p.Rollouts, p.Share = &m.Rollouts, &share
					break
				}
			}
			for _, r := range g.runsOf(a) {
				if len(r.Curve) == 0 {
					continue
				}
				p.Seeds++
				if slices.ContainsFunc(r.Curve, func(q Point) bool { return q.Accuracy >= p.Level }) {
					p.Reached++
				}
			}
			g.Passing = append(g.Passing, p)
		}
	}
}
