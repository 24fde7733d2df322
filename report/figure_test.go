package report

import (
	"strings"
	"testing"

	"gonum.org/v1/plot"

	"github.com/seed-095d5d2b/whale/recipe"
)

func TestTicks(t *testing.T) {
	labels := func(m ticks, low, high float64) string {
		var out []string
		for _, k := range m.Ticks(low, high) {
			out = append(out, k.Label)
		}
		return strings.Join(out, " ")
	}
	for _, tc := range []struct {
		ticks     ticks
		low, high float64
		want      string
	}{
		{ticks{label: percentTick}, 0, 1, "0% 20% 40% 60% 80% 100%"},
		{ticks{label: percentTick}, -0.02, 0.31, "0% 10% 20% 30%"},
		{ticks{label: percentTick}, 0.151, 0.178, "15.5% 16% 16.5% 17% 17.5%"},
		{ticks{label: count}, 0, 46080, "0 10k 20k 30k 40k"},
		{ticks{label: count}, 0, 7300, "0 2k 4k 6k"},
		{ticks{label: count}, 0, 2300, "0 500 1k 1.5k 2k"},
		{ticks{label: count, whole: true}, 0.5, 3.5, "1 2 3"},
		{ticks{label: percentTick}, 0.5, 0.5, "50%"},
	} {
		if got := labels(tc.ticks, tc.low, tc.high); got != tc.want {
			t.Errorf("%v to %v: got %q, want %q", tc.low, tc.high, got, tc.want)
		}
	}
	if n := len(ticks{label: count}.Ticks(1e17, 1e17+32)); n > 20 {
		t.Errorf("where numbers have no room between them: got %d ticks", n)
	}
}

// TestPanels: seeds with the same phases share a panel, seeds whose phases ended by rule have one each.
func TestPanels(t *testing.T) {
	at := func(seed uint64, cycles int) *recipe.Story {
		return fake{method: recipe.MethodAdaptive, seed: seed, gain: 0.5, cycles: cycles, examples: 4, draws: 1, steps: 1, sessions: 1}.story()
	}
	titles := func(f *figure) (out []string) {
		for _, row := range f.panels {
			for _, p := range row {
				if p != nil {
					out = append(out, p.Title.Text)
				}
			}
		}
		return out
	}
	g := &build(t, []*recipe.Story{at(1, 2), at(2, 2)}).Groups[0]
	if got := strings.Join(titles(g.curvePanels(looks(g.Arms))), "; "); got != "adaptive, 2 seeds" {
		t.Errorf("the same phases: got the panels %q", got)
	}
	g = &build(t, []*recipe.Story{at(1, 2), at(2, 3)}).Groups[0]
	if got := strings.Join(titles(g.curvePanels(looks(g.Arms))), "; "); got != "adaptive, seed 1; adaptive, seed 2" {
		t.Errorf("other phases: got the panels %q", got)
	}
}

// TestLooks: no two arms look alike, and a method keeps its colour.
func TestLooks(t *testing.T) {
	arms := []Arm{{Label: "new", Method: "new"}}
	for _, m := range recipe.Methods() {
		arms = append(arms, Arm{Label: m + " a", Method: m}, Arm{Label: m + " b", Method: m})
	}
	ls := looks(arms)
	for i, a := range arms {
		for _, b := range arms[:i] {
			x, y := ls[a.Label], ls[b.Label]
			if x.color == y.color && x.glyph == y.glyph {
				t.Errorf("%s and %s look alike", a.Label, b.Label)
			}
		}
	}
	if ls["whale a"].color != blue || ls["whale b"].color != blue {
		t.Error("whale is not blue")
	}
}

// TestTextsKeepTheirRoom: each text of an SVG says how long it is.
func TestTextsKeepTheirRoom(t *testing.T) {
	p := newPanel("a <title> & more", "x", "y")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	f := &figure{name: "f", title: "t", w: 200, h: 100, panels: [][]*plot.Plot{{p}}}
	s, err := f.svg()
	if err != nil {
		t.Fatal(err)
	}
	if n, m := strings.Count(s, "<text "), strings.Count(s, "<text textLength="); n == 0 || n != m {
		t.Errorf("got %d texts, %d with a length", n, m)
	}
	if !strings.Contains(s, ">a &lt;title&gt; &amp; more</text>") || strings.Contains(s, "font-family:Liberation") {
		t.Errorf("got the texts %s", s)
	}
}
