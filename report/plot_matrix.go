package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heat is a table of shares as coloured cells with their numbers. Light is low and dark is high, in one hue, so that it can be read in any colour vision and in print.
type heat struct {
	cells     [][]float64 // [row from the top][column]
	low, high float64
	labels    draw.TextStyle
}

func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	rows := len(h.cells)
	for i, row := range h.cells {
		for j, v := range row {
			at := float64(rows - 1 - i)
			a, b := vg.Point{X: x(float64(j) - 0.5), Y: y(at - 0.5)}, vg.Point{X: x(float64(j) + 0.5), Y: y(at + 0.5)}
			t := 0.5
			if h.high > h.low {
				t = (v - h.low) / (h.high - h.low)
			}
			c.FillPolygon(ramp(t), []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}})
			sty := h.labels
			sty.Color = color.Color(black)
			if t > 0.55 {
				sty.Color = color.White
			}
			c.FillText(sty, vg.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, fmt.Sprintf("%.1f", 100*v))
		}
	}
}

// ramp goes from a very light to a dark blue.
func ramp(t float64) color.RGBA {
	mix := func(a, b float64) uint8 { return uint8(a + (b-a)*min(1, max(0, t))) }
	return color.RGBA{mix(0xf0, 0x08), mix(0xf6, 0x45), mix(0xfc, 0x80), 0xff}
}

// axis puts names at whole numbers.
type axis []string

func (a axis) Ticks(_, _ float64) []plot.Tick {
	out := make([]plot.Tick, len(a))
	for i, s := range a {
		out[i] = plot.Tick{Value: float64(i), Label: s}
	}
	return out
}

// matrixFigure is the heat map of one measured matrix; nil where it has no cells, or not those that its axes name.
func matrixFigure(name string, r *Run, m Matrix) *figure {
	if len(m.Weights) == 0 || len(m.Harness) == 0 || len(m.Cells) != len(m.Harness) {
		return nil
	}
	h := heat{low: 1, high: 0, labels: draw.TextStyle{Font: sans(9), XAlign: draw.XCenter, YAlign: draw.YCenter}}
	for _, row := range m.Cells {
		if len(row) != len(m.Weights) {
			return nil
		}
		for _, v := range row {
			h.low, h.high = min(h.low, v), max(h.high, v)
		}
		h.cells = append(h.cells, row)
	}
	p := newPanel("", "weights", "harness")
	h.labels.Handler = text.Handler(p.Title.TextStyle.Handler)
	var columns, rows []string
	for _, a := range m.Weights {
		columns = append(columns, plain(a, 8))
	}
	for _, a := range m.Harness {
		rows = append(rows, plain(a, 8))
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = axis(columns), names(rows)
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(columns))-0.5, -0.5, float64(len(rows))-0.5
	p.Add(h)
	return &figure{
		name: name, title: fmt.Sprintf("Every weights with every harness: %s, seed %d", plain(r.Arm, 60), r.Seed), panels: [][]*plot.Plot{{p}},
		w: vg.Length(70 + 46*len(columns)), h: vg.Length(50 + 30*len(rows)),
		caption: fmt.Sprintf("Accuracy in percent on the %s split, mean@%d. A row is one harness, a column one set of weights.", plain(m.Split, 20), m.Draws),
	}
}
