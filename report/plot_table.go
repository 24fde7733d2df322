package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// names puts texts at whole numbers of a lying plot's upright axis.
type names []string

func (n names) Ticks(_, _ float64) []plot.Tick {
	out := make([]plot.Tick, len(n))
	for i, s := range n {
		out[i] = plot.Tick{Value: float64(len(n) - 1 - i), Label: s}
	}
	return out
}

// lying makes a panel with a name for each of some rows, the first on top.
func lying(x string, rows []string) *plot.Plot {
	p := newPanel("", x, "")
	p.Y.Tick.Marker = names(rows)
	p.Y.Tick.Length = 0
	p.Y.LineStyle.Width = 0
	p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
	p.X.Tick.Marker = ticks{label: percentTick}
	p.Add(gridLines(false, true))
	return p
}

// rowHeight is the height of one row of a lying plot, in points.
const rowHeight = 24

// finals shows the table's main rows with their intervals.
func (g *Group) finals(ls map[string]look) *figure {
	var rows []Row
	for _, r := range g.Table {
		switch r.Kind {
		case RowBase, RowFinal, RowBest:
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	labels := make([]string, len(rows))
	for i, r := range rows {
		labels[i] = plain(rowName(r), 48)
	}
	p := lying("test accuracy, mean@k", labels)
	low, high := 1.0, 0.0
	for _, r := range rows {
		low, high = min(low, r.Low), max(high, r.High)
	}
	if g.Chance != nil {
		p.Add(upright{*g.Chance, chanceLine})
		low = min(low, *g.Chance)
	}
	for i, r := range rows {
		l, ok := ls[r.Arm]
		if !ok {
			l = look{color: grey, glyph: draw.SquareGlyph{}}
		}
		w := whisker{at: float64(len(rows) - 1 - i), value: r.Mean, low: r.Low, high: r.High, lying: true, color: l.color, glyph: l.glyph}
		if r.Kind == RowBest {
			w.glyph = draw.RingGlyph{}
		}
		if len(r.Seeds) > 1 {
			for _, s := range r.Seeds {
				w.thin = append(w.thin, s.Value)
			}
		}
		p.Add(w)
	}
	pad := max(0.01, 0.05*(high-low))
	p.X.Min, p.X.Max = max(0, low-pad), min(1, high+pad)
	f := &figure{
		name: "final", title: "Test accuracy with 95% intervals", w: 640, h: vg.Length(50 + rowHeight*len(rows)), panels: [][]*plot.Plot{{p}},
		caption: "Mean@k over seeds and examples with its 95% interval; small rings below are single seeds. Open marks are the best pair along each run by mean@k, chosen on the test split, as the paper's figures are, and flatter.",
	}
	if g.Chance != nil {
		f.legend = []legendEntry{{name: "chance", line: &chanceLine}}
	}
	return f
}

// rowName is a row's name for people.
func rowName(r Row) string {
	switch {
	case r.Kind == RowBase && r.Arm == "":
		return "base (θ0,h0)"
	case r.Kind == RowBase:
		return "base (" + r.Arm + ")"
	case r.Kind == RowFinal:
		return r.Arm
	case r.Kind == RowBest:
		return r.Arm + ", best on test"
	}
	return r.Arm + ", " + r.Kind
}

// forest shows the differences of the final pairs from the reference arm.
func (g *Group) forest(ls map[string]look) *figure {
	var ds []Difference
	for _, d := range g.Differences {
		if d.Kind == RowFinal {
			ds = append(ds, d)
		}
	}
	if len(ds) == 0 {
		return nil
	}
	labels := make([]string, len(ds))
	low, high := 0.0, 0.0
	for i, d := range ds {
		labels[i] = plain(d.First+" − "+d.Second, 64)
		low, high = min(low, d.Low), max(high, d.High)
	}
	p := lying("difference of test accuracy, points", labels)
	p.X.Tick.Marker = ticks{label: func(v float64) string { return signed(100*v, 0) }}
	p.Add(upright{0, draw.LineStyle{Color: grey, Width: 1}})
	for i, d := range ds {
		l := ls[d.Second]
		w := whisker{at: float64(len(ds) - 1 - i), value: d.Mean, low: d.Low, high: d.High, lying: true, color: color.Color(l.color), glyph: l.glyph}
		if len(d.Seeds) > 1 {
			for _, s := range d.Seeds {
				w.thin = append(w.thin, s.Value)
			}
		}
		p.Add(w)
	}
	pad := max(0.01, 0.05*(high-low))
	p.X.Min, p.X.Max = low-pad, high+pad
	return &figure{
		name: "differences", title: "Differences of final accuracy: " + plain(g.Reference, 60) + " minus the others", w: 640, h: vg.Length(50 + rowHeight*len(ds)), panels: [][]*plot.Plot{{p}},
		caption: "Paired by seed and example, with 95% intervals; small rings are single seeds. Right of 0 the reference is better.",
	}
}

// signed is a number with its sign.
func signed(v float64, digits int) string {
	s := fmt.Sprintf("%+.*f", digits, v)
	if trimmed := s[1:]; trimmed == fmt.Sprintf("%.*f", digits, 0.0) {
		return trimmed
	}
	return s
}
