package report

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// extent is the range of everything that a group's curves show.
func (g *Group) extent() (x, low, high float64) {
	low, high = 1, 0
	see := func(v float64) { low, high = min(low, v), max(high, v) }
	for i := range g.Runs {
		for _, p := range g.Runs[i].Curve {
			x = max(x, float64(p.Rollouts))
			see(p.Accuracy)
			see(p.Low)
			see(p.High)
		}
	}
	for _, a := range g.Arms {
		for _, m := range a.Curve {
			see(m.Low)
			see(m.High)
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

// bandKinds are what the bands of the group's curves are.
func (g *Group) bandKinds() []string {
	var out []string
	for _, a := range g.Arms {
		if len(a.Curve) > 0 && !slices.Contains(out, a.Band) {
			out = append(out, a.Band)
		}
	}
	return out
}

func (g *Group) bandsLegend() string { return strings.Join(g.bandKinds(), " or ") }

// bandsAre says it in a sentence.
func (g *Group) bandsAre() string {
	one := slices.ContainsFunc(g.Arms, func(a Arm) bool { return len(a.runs) == 1 })
	var parts []string
	for _, k := range g.bandKinds() {
		switch {
		case k == BandRange:
			parts = append(parts, "the range of the seeds, which is no interval (the rewards of single examples are not known)")
		case one:
			parts = append(parts, "95% intervals over seeds and examples, of a method with one seed over examples alone")
		default:
			parts = append(parts, "95% intervals over seeds and examples")
		}
	}
	return strings.Join(parts, ", or ")
}

// drawnCurve is an arm's curve, ready to be drawn.
type drawnCurve struct {
	end               float64 // rollouts at its last point
	band, line, marks plot.Plotter
}

// curves shows the mean curves of all arms in one plot.
func (g *Group) curves(ls map[string]look) *figure {
	maxX, low, high := g.extent()
	p := newPanel("", "training rollouts", "test accuracy")
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{label: count}, ticks{label: percentTick}
	f := &figure{
		name: "accuracy", title: "Accuracy against training rollouts", w: 640, h: 320, panels: [][]*plot.Plot{{p}},
		caption: "Test accuracy, one draw an example, mean over seeds. Pale bands are " + g.bandsAre() + ". Test evaluation is outside of the rollouts that are counted.",
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
		drawn = append(drawn, drawnCurve{a.Curve[len(a.Curve)-1].Rollouts, band{a.Curve, l.color}, line(meanXYs(a.Curve), style), &plotter.Scatter{XYs: meanXYs(a.Curve), GlyphStyle: mark}})
		f.legend = append(f.legend, legendEntry{name: plain(a.Label, 60), line: &style, glyph: &mark})
	}
	if len(drawn) == 0 {
		return nil
	}
	// Methods with equal beginnings have equal curves there: the shorter one is drawn over the longer one.
	slices.SortStableFunc(drawn, func(a, b drawnCurve) int { return cmp.Compare(b.end, a.end) })
	for _, d := range drawn {
		p.Add(d.band)
	}
	for _, d := range drawn {
		p.Add(d.line, d.marks)
	}
	f.legend = append(f.legend, legendEntry{name: g.bandsLegend(), patch: pale})
	if g.Chance != nil {
		f.legend = append(f.legend, legendEntry{name: "chance", line: &chanceLine})
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, maxX*1.03, low, high
	return f
}
