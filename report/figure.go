package report

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// figure is one plot or several in a grid, with one legend above them.
type figure struct {
	name    string // file name without extension
	title   string
	caption string // how to read it
	panels  [][]*plot.Plot
	w, h    vg.Length // of one panel
	legend  []legendEntry
}

// legendEntry is a line, a mark, or a patch, with its name.
type legendEntry struct {
	name  string
	line  *draw.LineStyle
	glyph *draw.GlyphStyle
	patch color.Color
}

const (
	figurePad   = 8
	legendLine  = 14
	pngDPI      = 144
	maxFigure   = 4000 // points a side: a larger one is refused by image libraries, and read by nobody
	entryGap    = 16
	entrySample = 22
	leastWidth  = 540 // pixels: a figure is not shrunk further on a small screen, but scrolls
)

func (f *figure) size() (w, h vg.Length) {
	cols := 0
	for _, row := range f.panels {
		cols = max(cols, len(row))
	}
	w = vg.Length(cols)*f.w + 2*figurePad
	h = vg.Length(len(f.panels))*f.h + 2*figurePad + f.legendHeight(w)
	return min(w, maxFigure), min(h, maxFigure)
}

// grid puts plots in rows of the given number of columns.
func grid(plots []*plot.Plot, cols int) [][]*plot.Plot {
	cols = max(1, min(cols, len(plots)))
	var rows [][]*plot.Plot
	for i := 0; i < len(plots); i += cols {
		row := make([]*plot.Plot, cols)
		copy(row, plots[i:min(i+cols, len(plots))])
		rows = append(rows, row)
	}
	return rows
}

// legendStyle writes legends. The handler is the plots' own, whose cache of fonts may be used from many goroutines.
func legendStyle() draw.TextStyle {
	return draw.TextStyle{Color: black, Font: sans(9), Handler: plot.DefaultTextHandler, YAlign: draw.YCenter}
}

// place lays legend entries out in lines of a width, and gives where each begins.
func (f *figure) place(w vg.Length, sty draw.TextStyle) (at []vg.Point, lines int) {
	x, line := vg.Length(0), 0
	for _, e := range f.legend {
		need := entrySample + sty.Width(e.name) + entryGap
		if x > 0 && x+need > w-2*figurePad {
			x, line = 0, line+1
		}
		at = append(at, vg.Point{X: x, Y: vg.Length(line) * legendLine})
		x += need
	}
	return at, line + 1
}

func (f *figure) legendHeight(w vg.Length) vg.Length {
	if len(f.legend) == 0 {
		return 0
	}
	_, lines := f.place(w, legendStyle())
	return vg.Length(lines)*legendLine + 4
}

func (f *figure) draw(c draw.Canvas) {
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	w := c.Max.X - c.Min.X
	if len(f.legend) > 0 {
		sty := legendStyle()
		at, _ := f.place(w, sty)
		for i, e := range f.legend {
			f.drawEntry(c, e, vg.Point{X: c.Min.X + figurePad + at[i].X, Y: c.Max.Y - figurePad - legendLine/2 - at[i].Y}, sty)
		}
	}
	area := draw.Crop(c, figurePad, -figurePad, figurePad, -figurePad-f.legendHeight(w))
	tiles := draw.Tiles{Rows: len(f.panels), Cols: len(f.panels[0]), PadX: 14, PadY: 12}
	canvases := plot.Align(f.panels, tiles, area)
	for j, row := range f.panels {
		for i, p := range row {
			if p != nil {
				p.Draw(canvases[j][i])
			}
		}
	}
}

func (f *figure) drawEntry(c draw.Canvas, e legendEntry, at vg.Point, sty draw.TextStyle) {
	const sample = entrySample - 6
	c.FillText(sty, vg.Point{X: at.X + entrySample - 2, Y: at.Y}, e.name)
	at.Y-- // the middle of small letters is lower than that of their box
	switch {
	case e.patch != nil:
		c.FillPolygon(e.patch, []vg.Point{{X: at.X, Y: at.Y - 4}, {X: at.X + sample, Y: at.Y - 4}, {X: at.X + sample, Y: at.Y + 4}, {X: at.X, Y: at.Y + 4}})
	case e.line != nil:
		c.StrokeLine2(*e.line, at.X, at.Y, at.X+sample, at.Y)
	}
	if e.glyph != nil {
		c.DrawGlyph(*e.glyph, vg.Point{X: at.X + sample/2, Y: at.Y})
	}
}

// png writes the figure as PNG.
func (f *figure) png(w io.Writer) error {
	width, height := f.size()
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))
	f.draw(draw.New(c))
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("plot %s: %w", f.name, err)
	}
	return nil
}
