package report

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
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

// extent is the range of everything that a group's curves show.
func (g *Group) extent() (x, low, high float64) {
	low, high = 1, 0
	see := func(v float64) { low, high = min(low, v), max(high, v) }
	for i := range g.Runs {
		for _, p := range g.Runs[i].Curve {
			x = max(x, float64(p.Rollouts))
			see(p.Accuracy)
		}
	}
	for _, r := range g.Table {
		see(r.Low)
		see(r.High)
	}
	if g.Chance != nil {
		see(*g.Chance)
	}
	if high < low {
		low, high = 0, 1
	}
	pad := max(0.02, 0.06*(high-low))
	return max(1, x), max(0, low-pad), min(1, high+pad)
}

// final gives an arm's row of final pairs.
func (g *Group) final(label string) (Row, bool) {
	for _, r := range g.Table {
		if r.Arm == label && r.Kind == RowFinal {
			return r, true
		}
	}
	return Row{}, false
}

var chanceLine = draw.LineStyle{Color: grey, Width: 1, Dashes: []vg.Length{2, 2}}

// curvePanels shows each arm's accuracy against its training rollouts, phases shaded: the mean over seeds as a thick line, seeds as thin ones, the
// final mean@k with its interval at the end. An arm whose seeds have other phases (they end by rule) has one panel a seed.
func (g *Group) curvePanels(ls map[string]look) *figure {
	maxX, low, high := g.extent()
	f := &figure{
		name: "phases", title: "Accuracy against training rollouts, phases shaded", w: 330, h: 200,
		caption: "Test accuracy, one draw an example, against the rollouts that training had spent (weight phases, candidates and their canaries). Thick: mean over seeds; thin: each seed. " +
			"The mark at the right end is the final pair's mean@k with its 95% interval.",
	}
	var panels []*plot.Plot
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
			if len(runs) > 1 {
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

func pointXYs(c []Point) plotter.XYs {
	out := make(plotter.XYs, len(c))
	for i, p := range c {
		out[i] = plotter.XY{X: float64(p.Rollouts), Y: p.Accuracy}
	}
	return out
}

func meanXYs(c []Mean) plotter.XYs {
	out := make(plotter.XYs, len(c))
	for i, p := range c {
		out[i] = plotter.XY{X: p.Rollouts, Y: p.Accuracy}
	}
	return out
}

// drawnCurve is an arm's curve, ready to be drawn.
type drawnCurve struct {
	end         float64 // rollouts at its last point
	line, marks plot.Plotter
}

// curves shows the mean curves of all arms in one plot.
func (g *Group) curves(ls map[string]look) *figure {
	maxX, low, high := g.extent()
	p := newPanel("", "training rollouts", "test accuracy")
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{label: count}, ticks{label: percentTick}
	f := &figure{
		name: "accuracy", title: "Accuracy against training rollouts", w: 640, h: 320, panels: [][]*plot.Plot{{p}},
		caption: "Test accuracy, one draw an example, mean over seeds. Test evaluation is outside of the rollouts that are counted.",
	}
	p.Add(gridLines(true, false))
	if g.Chance != nil {
		p.Add(level{*g.Chance, chanceLine})
	}
	var drawn []drawnCurve
	for _, a := range g.Arms {
		if len(a.Curve) == 0 {
			continue
		}
		l := ls[a.Label]
		style := draw.LineStyle{Color: l.color, Width: 2, Dashes: l.dash}
		mark := draw.GlyphStyle{Color: l.color, Radius: 2.5, Shape: l.glyph}
		drawn = append(drawn, drawnCurve{a.Curve[len(a.Curve)-1].Rollouts, line(meanXYs(a.Curve), style), &plotter.Scatter{XYs: meanXYs(a.Curve), GlyphStyle: mark}})
		f.legend = append(f.legend, legendEntry{name: plain(a.Label, 60), line: &style, glyph: &mark})
	}
	if len(drawn) == 0 {
		return nil
	}
	// Methods with equal beginnings have equal curves there: the shorter one is drawn over the longer one.
	slices.SortStableFunc(drawn, func(a, b drawnCurve) int { return cmp.Compare(b.end, a.end) })
	for _, d := range drawn {
		p.Add(d.line, d.marks)
	}
	if g.Chance != nil {
		f.legend = append(f.legend, legendEntry{name: "chance", line: &chanceLine})
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, maxX*1.03, low, high
	return f
}
