package report

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-095d5d2b/whale/recipe"
)

// This file has the marks that plots are made of, beside those of the plot library.

// shades draws spans behind everything else, over the plot's whole height.
type shades []span

func (s shades) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, ph := range s {
		fill := harnessShade
		if ph.kind == recipe.PhaseWeight {
			fill = weightShade
		}
		a, b := max(c.Min.X, x(ph.from)), min(c.Max.X, x(ph.to))
		if b > a {
			c.FillPolygon(fill, []vg.Point{{X: a, Y: c.Min.Y}, {X: b, Y: c.Min.Y}, {X: b, Y: c.Max.Y}, {X: a, Y: c.Max.Y}})
		}
	}
}

// level is a horizontal line over the whole width.
type level struct {
	y     float64
	style draw.LineStyle
}

func (l level) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	if at := y(l.y); at >= c.Min.Y && at <= c.Max.Y {
		c.StrokeLine2(l.style, c.Min.X, at, c.Max.X, at)
	}
}

// whisker is an interval with a mark at its estimate, upright (at x) or lying (at y).
type whisker struct {
	at, value, low, high float64
	lying                bool
	color                color.Color
	glyph                draw.GlyphDrawer
	thin                 []float64 // values of single seeds
}

func (w whisker) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: w.color, Width: 1.5}
	point := func(v float64) vg.Point {
		if w.lying {
			return vg.Point{X: x(v), Y: y(w.at)}
		}
		return vg.Point{X: x(w.at), Y: y(v)}
	}
	a, b := point(w.low), point(w.high)
	c.StrokeLine2(line, a.X, a.Y, b.X, b.Y)
	const cap = 3
	for _, e := range []vg.Point{a, b} {
		if w.lying {
			c.StrokeLine2(line, e.X, e.Y-cap, e.X, e.Y+cap)
		} else {
			c.StrokeLine2(line, e.X-cap, e.Y, e.X+cap, e.Y)
		}
	}
	for _, v := range w.thin {
		at := point(v)
		if w.lying {
			at.Y -= 7
		} else {
			at.X += 5
		}
		c.DrawGlyph(draw.GlyphStyle{Color: w.color, Radius: 1.6, Shape: draw.RingGlyph{}}, at)
	}
	c.DrawGlyph(draw.GlyphStyle{Color: w.color, Radius: 3.5, Shape: w.glyph}, point(w.value))
}

// bandAlpha is how much of what lies under a band it covers, of 255. Bands of several methods over one another stay readable.
const bandAlpha = 26

// band fills the room between the low and the high ends of a mean curve.
type band struct {
	curve []Mean
	color color.RGBA
}

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(rollouts, v float64) vg.Point {
		return vg.Point{X: min(c.Max.X, max(c.Min.X, x(rollouts))), Y: min(c.Max.Y, max(c.Min.Y, y(v)))}
	}
	var outline []vg.Point
	for _, m := range b.curve {
		outline = append(outline, at(m.Rollouts, m.High))
	}
	for _, m := range slices.Backward(b.curve) {
		outline = append(outline, at(m.Rollouts, m.Low))
	}
	if n := len(b.curve); n > 1 {
		c.FillPolygon(color.NRGBA{b.color.R, b.color.G, b.color.B, bandAlpha}, outline)
		edge := draw.LineStyle{Color: color.NRGBA{b.color.R, b.color.G, b.color.B, 3 * bandAlpha}, Width: 0.5}
		c.StrokeLines(edge, outline[:n], outline[n:])
	}
}

func line(xys plotter.XYs, style draw.LineStyle) *plotter.Line {
	return &plotter.Line{XYs: xys, LineStyle: style}
}

// upright is a vertical line over the whole height.
type upright struct {
	x     float64
	style draw.LineStyle
}

func (l upright) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	if at := x(l.x); at >= c.Min.X && at <= c.Max.X {
		c.StrokeLine2(l.style, at, c.Min.Y, at, c.Max.Y)
	}
}
