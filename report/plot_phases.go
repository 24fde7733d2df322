package report

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// span is a phase on the axis of training rollouts.
type span struct {
	kind     string
	from, to float64
}

// spans gives where a run's phases begin and end. A phase without a curve point behind it is left out.
func spans(r *Run) []span {
	if len(r.Curve) == 0 {
		return nil
	}
	ends := map[int]float64{}
	for _, p := range r.Curve {
		ends[p.Phase] = float64(p.Rollouts)
	}
	var out []span
	from := float64(r.Curve[0].Rollouts)
	for _, ph := range r.Phases {
		to, ok := ends[ph.Index]
		if !ok {
			break
		}
		out = append(out, span{ph.Kind, from, to})
		from = to
	}
	return out
}

// meanSpans averages the phases of runs that have the same kinds of phases; ok is false where they have not.
func meanSpans(runs []*Run) (out []span, ok bool) {
	n := float64(len(runs))
	for i, r := range runs {
		s := spans(r)
		if i == 0 {
			out = make([]span, len(s))
		}
		if len(s) != len(out) {
			return nil, false
		}
		for k := range s {
			if i > 0 && s[k].kind != out[k].kind {
				return nil, false
			}
			out[k].kind = s[k].kind
			out[k].from += s[k].from / n
			out[k].to += s[k].to / n
		}
	}
	return out, true
}

// curvePanels shows each arm's accuracy against its training rollouts, phases shaded: the mean over seeds as a thick line, seeds as thin ones, the
// final mean@k with its interval at the end. An arm whose seeds have other phases (they end by rule) has one panel a seed.
func (g *Group) curvePanels(ls map[string]look) *figure {
	maxX, low, high := g.extent()
	f := &figure{
		name: "phases", title: "Accuracy against training rollouts, phases shaded", w: 330, h: 200,
		caption: "Test accuracy, one draw an example, against the rollouts that training had spent (weight phases, candidates and their canaries). Thick: mean over seeds; thin: each seed; " +
			"pale bands: " + g.bandsAre() + "; in the panel of a single seed over examples alone. " +
			"The mark at the right end is the final pair's mean@k with its 95% interval.",
	}
	var panels []*plot.Plot
	several := false
	for i := range g.Arms {
		a := &g.Arms[i]
		var runs []*Run
		for _, r := range g.runsOf(a) {
			if len(r.Curve) > 0 {
				runs = append(runs, r)
			}
		}
		if len(runs) == 0 {
			continue
		}
		shaded, same := meanSpans(runs)
		if same {
			p := g.curvePanel(curveTitle(a, runs), runs, shaded, ls[a.Label])
			p.Add(band{a.Curve, ls[a.Label].color})
			if len(runs) > 1 {
				several = true
				p.Add(line(meanXYs(a.Curve), draw.LineStyle{Color: ls[a.Label].color, Width: 2}))
			}
			if row, ok := g.final(a.Label); ok {
				p.Add(whisker{at: a.Spent, value: row.Mean, low: row.Low, high: row.High, color: black, glyph: ls[a.Label].glyph})
			}
			panels = append(panels, p)
			continue
		}
		for _, r := range runs {
			p := g.curvePanel(fmt.Sprintf("%s, seed %d", a.Label, r.Seed), []*Run{r}, spans(r), ls[a.Label])
			p.Add(band{ownBand(r.Curve), ls[a.Label].color})
			if q, ok := r.pair(RowFinal); ok {
				p.Add(whisker{at: spent(r), value: q.Mean, low: q.Low, high: q.High, color: black, glyph: ls[a.Label].glyph})
			}
			panels = append(panels, p)
		}
	}
	if len(panels) == 0 {
		return nil
	}
	for _, p := range panels {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, maxX*1.03, low, high
	}
	f.panels = grid(panels, 2)
	f.legend = []legendEntry{{name: "weight phase", patch: weightShade}, {name: "harness phase", patch: harnessShade}}
	if several {
		mean, single := draw.LineStyle{Color: black, Width: 2}, draw.LineStyle{Color: grey, Width: 0.75}
		f.legend = append(f.legend, legendEntry{name: "mean over seeds", line: &mean}, legendEntry{name: "single seed", line: &single})
	}
	f.legend = append(f.legend, legendEntry{name: g.bandsLegend(), patch: pale})
	if g.Chance != nil {
		f.legend = append(f.legend, legendEntry{name: "chance", line: &chanceLine})
	}
	return f
}

func curveTitle(a *Arm, runs []*Run) string {
	open := 0
	for _, r := range runs {
		if !r.Finished {
			open++
		}
	}
	t := fmt.Sprintf("%s, %d seeds", a.Label, len(runs))
	if len(runs) == 1 {
		t = fmt.Sprintf("%s, seed %d", a.Label, runs[0].Seed)
	}
	if open > 0 {
		t += fmt.Sprintf(" (%d not finished)", open)
	}
	return t
}

func (g *Group) curvePanel(title string, runs []*Run, shaded []span, l look) *plot.Plot {
	p := newPanel(title, "training rollouts", "test accuracy")
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{label: count}, ticks{label: percentTick}
	p.Add(shades(shaded))
	if g.Chance != nil {
		p.Add(level{*g.Chance, chanceLine})
	}
	style := draw.LineStyle{Color: l.color, Width: 2}
	if len(runs) > 1 {
		style = draw.LineStyle{Color: grey, Width: 0.75}
	}
	for _, r := range runs {
		p.Add(line(pointXYs(r.Curve), style))
		if len(runs) == 1 {
			p.Add(&plotter.Scatter{XYs: pointXYs(r.Curve), GlyphStyle: draw.GlyphStyle{Color: dark(l.color), Radius: 2, Shape: draw.CircleGlyph{}}})
		}
	}
	return p
}

// ownBand has the intervals of one run's points, over examples.
func ownBand(c []Point) []Mean {
	out := make([]Mean, len(c))
	for i, p := range c {
		out[i] = Mean{float64(p.Rollouts), p.Accuracy, p.Low, p.High}
	}
	return out
}
