package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-095d5d2b/whale/stats"
)

// meanCurve averages the curves of an arm's runs. Where they have the same points, each point is averaged; where they have not (phases that end by
// rule), the curves are taken as steps that hold until the next point, and averaged between the last start and the first end. Its band is the 95%
// interval of the table's resampling wherever the points have their cells.
func (g *Group) meanCurve(a *Arm) error {
	var curves [][]Point
	for _, r := range g.runsOf(a) {
		if len(r.Curve) > 0 {
			curves = append(curves, r.Curve)
		}
	}
	for _, m := range alongside(curves) {
		mean, band, err := m.mean()
		if err != nil {
			return fmt.Errorf("report: %s, curve: %w", a.Label, err)
		}
		if len(a.Curve) == 0 || band == BandRange { // one kind for the whole curve
			a.Band = band
		}
		a.Curve = append(a.Curve, mean)
	}
	if a.Band == BandRange {
		for i, m := range alongside(curves) {
			a.Curve[i].Low, a.Curve[i].High = m.extremes()
		}
	}
	return nil
}

// abreast is a point of a mean curve: the point of each run that stands for it.
type abreast struct {
	rollouts float64
	points   []Point
}

// alongside puts curves side by side.
func alongside(curves [][]Point) []abreast {
	if len(curves) == 0 {
		return nil
	}
	n := float64(len(curves))
	if samePoints(curves) {
		out := make([]abreast, len(curves[0]))
		for _, c := range curves {
			for i, p := range c {
				out[i].rollouts += float64(p.Rollouts) / n
				out[i].points = append(out[i].points, p)
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
	var out []abreast
	for _, x := range slices.Compact(at) {
		if x < from || x > to {
			continue
		}
		m := abreast{rollouts: float64(x)}
		for _, c := range curves {
			m.points = append(m.points, holds(c, x))
		}
		out = append(out, m)
	}
	return out
}

// mean is the point of the mean curve, and what its band is.
func (m abreast) mean() (Mean, string, error) {
	out := Mean{Rollouts: m.rollouts}
	var cells [][]float64
	for _, p := range m.points {
		out.Accuracy += p.Accuracy / float64(len(m.points))
		if p.cells != nil {
			cells = append(cells, p.cells)
		}
	}
	switch {
	case len(cells) == len(m.points):
		s, err := stats.SeedsMean(cells, resampleSeed)
		out.Low, out.High = s.Low, s.High
		return out, BandInterval, err
	case len(m.points) == 1:
		out.Low, out.High = m.points[0].Low, m.points[0].High
		return out, BandInterval, nil
	}
	out.Low, out.High = m.extremes()
	return out, BandRange, nil
}

// extremes are the accuracies of the worst and the best seed.
func (m abreast) extremes() (low, high float64) {
	low, high = m.points[0].Accuracy, m.points[0].Accuracy
	for _, p := range m.points[1:] {
		low, high = min(low, p.Accuracy), max(high, p.Accuracy)
	}
	return low, high
}

func samePoints(curves [][]Point) bool {
	for _, c := range curves[1:] {
		if !slices.EqualFunc(c, curves[0], func(a, b Point) bool { return a.At == b.At && a.Steps == b.Steps && a.Sessions == b.Sessions }) {
			return false
		}
	}
	return true
}

// holds is the last point at or before x.
func holds(c []Point, x int) Point {
	last := c[0]
	for _, p := range c {
		if p.Rollouts <= x {
			last = p
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
				own := SeedReach{Seed: r.Seed}
				if i := slices.IndexFunc(r.Curve, func(q Point) bool { return q.Accuracy >= p.Level }); i >= 0 {
					p.Reached++
					rollouts := float64(r.Curve[i].Rollouts)
					share := rollouts / p.Total
					own.Rollouts, own.Share = &rollouts, &share
				}
				p.BySeed = append(p.BySeed, own)
			}
			g.Passing = append(g.Passing, p)
		}
	}
}
