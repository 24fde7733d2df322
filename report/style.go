package report

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-095d5d2b/whale/recipe"
)

// Colours that people with any colour vision tell apart (Okabe and Ito, Color Universal Design, 2008). Yellow is left out: it is too light for a line.
var (
	black      = color.RGBA{0x20, 0x20, 0x20, 0xff}
	grey       = color.RGBA{0x8a, 0x8a, 0x8a, 0xff}
	pale       = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
	thinGrey   = color.RGBA{0xc4, 0xc4, 0xc4, 0xff}
	orange     = color.RGBA{0xe6, 0x9f, 0x00, 0xff}
	sky        = color.RGBA{0x56, 0xb4, 0xe9, 0xff}
	green      = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	blue       = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	vermillion = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	purple     = color.RGBA{0xcc, 0x79, 0xa7, 0xff}

	weightShade  = color.RGBA{0xfd, 0xf1, 0xd8, 0xff} // orange, light
	harnessShade = color.RGBA{0xe2, 0xf1, 0xfb, 0xff} // sky, light
)

// look is how an arm is drawn in every plot.
type look struct {
	color color.RGBA
	dash  []vg.Length
	glyph draw.GlyphDrawer
}

// looks gives each arm of a group its look: a method's colour is the same in all reports, and further arms of a method differ in dash and shape.
func looks(arms []Arm) map[string]look {
	of := map[string]color.RGBA{
		recipe.MethodWhale: blue, recipe.MethodAdaptive: sky, recipe.MethodWeightOnly: orange, recipe.MethodHarnessOnly: green,
		recipe.MethodFST: purple, recipe.MethodStagewise: vermillion,
	}
	dashes := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}}
	glyphs := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}}
	seen := map[string]int{}
	out := map[string]look{}
	for _, a := range arms {
		c, ok := of[a.Method]
		if !ok {
			c = grey
		}
		n := seen[a.Method]
		seen[a.Method]++
		out[a.Label] = look{c, dashes[n%len(dashes)], glyphs[n%len(glyphs)]}
	}
	return out
}

// dark is a colour's darker neighbour, for small marks on a shaded ground.
func dark(c color.RGBA) color.RGBA {
	return color.RGBA{c.R / 4 * 3, c.G / 4 * 3, c.B / 4 * 3, 0xff}
}

// gridLines help to read values off; they lie behind everything that is added after them.
func gridLines(horizontal, vertical bool) *plotter.Grid {
	g := &plotter.Grid{}
	if horizontal {
		g.Horizontal = draw.LineStyle{Color: pale, Width: 0.5}
	}
	if vertical {
		g.Vertical = draw.LineStyle{Color: pale, Width: 0.5}
	}
	return g
}

func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

// newPanel is a plot in the house's look.
func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = plain(title, 60)
	p.Title.TextStyle.Font = sans(10)
	p.Title.Padding = 4
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(9)
		a.Label.TextStyle.Color = black
		a.Label.Padding = 3
		a.Tick.Label.Font = sans(8)
		a.Tick.Label.Color = black
		a.Tick.LineStyle.Color, a.LineStyle.Color = grey, grey
		a.Tick.Length = 3
		a.Padding = 0
	}
	p.BackgroundColor = color.White
	return p
}

// count is a tick's or a table's number of rollouts: 950, 4.6k, 46k.
func count(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e6:
		return trim(v/1e6) + "M"
	case a >= 1e4:
		return strconv.FormatFloat(v/1e3, 'f', 0, 64) + "k"
	case a >= 1e3:
		return trim(v/1e3) + "k"
	}
	return trim(v)
}

func trim(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// ticks puts about four labels at round numbers.
type ticks struct {
	label func(float64) string
	whole bool // only at whole numbers
}

func (t ticks) Ticks(low, high float64) []plot.Tick {
	if !(high > low) {
		return []plot.Tick{{Value: low, Label: t.label(low)}}
	}
	raw := (high - low) / 5.5
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step*m >= raw {
			step *= m
			break
		}
	}
	if t.whole {
		step = math.Max(1, math.Round(step))
	}
	var out []plot.Tick
	for v := math.Ceil(low/step-1e-9) * step; v <= high+step*1e-9 && len(out) < 20; v += step { // 20: where step is nothing beside v
		out = append(out, plot.Tick{Value: v, Label: t.label(math.Round(v/step)*step + 0)}) // + 0: no negative zero
	}
	return out
}

func percentTick(v float64) string { return trim(100*v) + "%" }

// plain makes outside text fit for one line of a plot or a terminal, of at most n characters: what is not visible is replaced.
func plain(s string, n int) string {
	r := []rune(printable(s))
	if len(r) > n {
		r = append(r[:n-1], '…')
	}
	return string(r)
}
