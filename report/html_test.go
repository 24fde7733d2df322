package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/recipe"
)

func page1(t *testing.T, r *Report) (string, *html.Node) {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), doc
}

func walk(n *html.Node, visit func(*html.Node)) {
	visit(n)
	for c := range n.ChildNodes() {
		walk(c, visit)
	}
}

// checkSelfContained: the page loads nothing and runs nothing.
func checkSelfContained(t *testing.T, source string, doc *html.Node) {
	t.Helper()
	walk(doc, func(n *html.Node) {
		if n.Type != html.ElementNode {
			return
		}
		switch n.Data {
		case "script", "iframe", "object", "embed", "link", "base", "form", "foreignobject", "img", "image", "use", "audio", "video", "b", "marquee":
			t.Errorf("the page has a <%s>", n.Data)
		}
		for _, a := range n.Attr {
			key, v := strings.ToLower(a.Key), strings.ToLower(a.Val)
			switch {
			case key == "src", key == "srcset", strings.HasPrefix(key, "on"), key == "xlink:href":
				t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
			case key == "href" && !strings.HasPrefix(v, "#"):
				t.Errorf("<%s> points to %q", n.Data, a.Val)
			case key == "style" && strings.Contains(v, "url("):
				t.Errorf("<%s> has the style %q", n.Data, a.Val)
			}
		}
	})
	if m := regexp.MustCompile(`(?i)@import|url\(`).FindString(pageStyle); m != "" {
		t.Errorf("the style has %s", m)
	}
	if m := regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?\s*(https?:)?//`).FindString(source); m != "" {
		t.Errorf("the page refers to the outside: %s", m)
	}
}

func TestPageIsWhole(t *testing.T) {
	source, doc := page1(t, build(t, small()))
	checkSelfContained(t, source, doc)
	headings, figures, tables := map[string]bool{}, 0, 0
	var text func(n *html.Node) string
	text = func(n *html.Node) string {
		if n.Type == html.TextNode {
			return n.Data
		}
		s := ""
		for c := range n.ChildNodes() {
			s += text(c)
		}
		return s
	}
	walk(doc, func(n *html.Node) {
		if n.Type != html.ElementNode {
			return
		}
		switch n.Data {
		case "h3":
			headings[text(n)] = true
		case "svg":
			figures++
		case "table":
			tables++
		}
	})
	for _, want := range []string{
		"Test accuracy in percent, mean@2, with 95% intervals", "Differences to whale", "Accuracy against training rollouts", "Training rollouts until another method's final accuracy",
		"Weight phases", "Harness phases", "What each half of a cycle brought", "Every weights with every harness", "Spent", "Behaviour on the test split", "What was really tried", "Runs", "whale", "weight-only", "harness-only",
	} {
		if !headings[want] {
			t.Errorf("the page lacks the heading %q: it has %v", want, headings)
		}
	}
	if figures != 8 || tables != 9 {
		t.Errorf("got %d figures and %d tables, want 8 and 9", figures, tables)
	}
	all := text(doc)
	for _, want := range []string{"chosen on test", "not finished: after phase 2-weight", "Answering at random solves 5.0%", "0-weight (2 steps): all of it was made", "+# phase 3", "schedule.method: whale → weight-only", "runs/harness-only-2",
		"the best by mean@2 of the pairs that stood along", "The levels shown are those of\nweight-only and harness-only; passing.csv has all", "1: never, 2: never", "build build-a, kernels avx2",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// hostile is a story in which every text comes from an enemy.
func hostile() *recipe.Story {
	const evil = "</script></svg></style><script>alert(1)</script><b onmouseover=alert(2)>x</b>\x1b[31m\u202e&\"'"
	st := fake{method: recipe.MethodWhale, seed: 1, gain: 0.5, cycles: 1, examples: 4, draws: 1, steps: 1, sessions: 1, matrix: true}.story()
	st.Dir, st.Config.Name, st.Config.Schedule.Method, st.Config.Task.Kind = "runs/"+evil, evil, "=cmd|' /C calc'!A0"+evil, evil
	st.Config.Policy.Template = evil
	st.Begin.Build, st.Begin.Kernels = "=1+1"+evil, evil
	st.Begin.Task, st.Begin.Weights, st.Begin.Harness = whale.ID(evil), whale.ID(evil), whale.ID(evil)
	for i := range st.Phases {
		ph := &st.Phases[i]
		ph.Text, ph.Why, ph.Weights = evil, evil, whale.ID(evil)
		for k := range ph.Choices {
			c := &ph.Choices[k]
			c.Incumbent, c.Accepted, c.Test, c.Tests[0].Challenger = whale.ID(evil), whale.ID(evil), evil, whale.ID(evil)
		}
		if c := ph.Confirmation; c != nil {
			c.Test, c.Accepted, c.Programs[0].ID, c.Programs[0].Missing = evil, whale.ID(evil), whale.ID(evil), evil
		}
		if ph.Source != "" {
			ph.Source = "# " + evil + "\nSYSTEM_PROMPT = \"" + evil + "\"\n"
		}
		ph.Harness = whale.ID(evil)
		for k := range ph.Searched {
			ph.Searched[k].Error = evil
			for c := range ph.Searched[k].Candidates {
				q := &ph.Searched[k].Candidates[c]
				q.Name, q.ID, q.Gate, q.Reason, q.Status, q.Hypothesis = evil, whale.ID(evil), evil, evil, metaharness.Status(evil), evil
			}
		}
	}
	for i := range st.Final {
		st.Final[i].Metrics = map[string]float64{evil: 1}
	}
	for i := range st.Matrix {
		st.Matrix[i].Split = whale.Split(evil)
		st.Matrix[i].Weights[0].Name = evil
	}
	st.Final[5].Name = evil
	st.Tried.Rejected = map[string]int{evil: 1}
	st.Ledger[evil] = map[string]float64{evil: 1}
	return st
}

func TestHostileText(t *testing.T) {
	other := fake{method: recipe.MethodFST, seed: 1, gain: 0.4, cycles: 1, examples: 4, draws: 1, steps: 1, sessions: 1}.story()
	other.Begin.Task = hostile().Begin.Task
	r := build(t, []*recipe.Story{hostile(), other})
	source, doc := page1(t, r)
	checkSelfContained(t, source, doc)
	if strings.Contains(source, "<script") || strings.Contains(source, "</script") || strings.Contains(source, "\x1b") || strings.Contains(source, "\u202e") {
		i := strings.IndexAny(source, "\x1b\u202e")
		t.Errorf("hostile text reached the page as it was: %q", source[max(0, i-300):i+40])
	}
	if !strings.Contains(source, "&lt;script&gt;alert(1)") {
		t.Error("the page lost the text that it should show escaped")
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(text.String(), "\x1b\u202e\r"); i >= 0 {
		t.Errorf("a control character reached the terminal: %q", text.String()[max(0, i-20):i+5])
	}
	for _, name := range CSVNames() {
		var b bytes.Buffer
		if err := r.WriteCSV(&b, name); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\u202e") {
			t.Errorf("%s.csv: a control character", name)
		}
		if regexp.MustCompile(`(^|,)"?=`).MatchString(b.String()) {
			t.Errorf("%s.csv: a cell that a spreadsheet would run", name)
		}
	}
	checkFigures(t, r)
}

// checkFigures draws every figure: the SVG is well-formed XML without numbers that are none, the PNG can be read.
func checkFigures(t *testing.T, r *Report) {
	t.Helper()
	for i := range r.Groups {
		for _, f := range r.Groups[i].figures(r.prefix(i)) {
			s, err := f.svg()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
				t.Errorf("%s: the SVG has a number that is none", f.name)
			}
			d := xml.NewDecoder(strings.NewReader(s))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Errorf("%s: the SVG is no XML: %v", f.name, err)
					break
				}
			}
			var b bytes.Buffer
			if err := f.png(&b); err != nil {
				t.Fatal(err)
			}
			if _, err := png.Decode(&b); err != nil {
				t.Errorf("%s: the PNG cannot be read: %v", f.name, err)
			}
		}
	}
}

// TestOddRuns has runs that have next to nothing to show.
func TestOddRuns(t *testing.T) {
	base := fake{method: recipe.MethodWhale, seed: 1, gain: 0.5, cycles: 1, examples: 3, draws: 1, steps: 1, sessions: 1}
	for name, change := range map[string]func(*recipe.Story){
		"no curve":     func(st *recipe.Story) { st.Curve = nil },
		"one point":    func(st *recipe.Story) { st.Curve = st.Curve[:1] },
		"just begun":   func(st *recipe.Story) { *st = recipe.Story{Dir: "d", Config: st.Config, Begin: st.Begin} },
		"not begun":    func(st *recipe.Story) { *st = recipe.Story{Dir: "d", Config: st.Config} },
		"no phases":    func(st *recipe.Story) { st.Phases, st.Steps = nil, nil },
		"nothing done": func(st *recipe.Story) { st.Ledger, st.Chance, st.Halves, st.Matrix = nil, nil, nil, nil },
		"all zero": func(st *recipe.Story) {
			for i := range st.Final {
				st.Final[i].Rewards = [][]float64{{0}, {0}, {0}}
				st.Final[i].Mean, st.Final[i].Low, st.Final[i].High = 0, 0, 0
			}
			for i := range st.Curve {
				st.Curve[i].Test = recipe.Result{}
				st.Curve[i].Rollouts = 0
			}
		},
		"all one": func(st *recipe.Story) {
			for i := range st.Final {
				st.Final[i].Rewards = [][]float64{{1}, {1}, {1}}
			}
		},
		"far off": func(st *recipe.Story) {
			for i := range st.Curve {
				st.Curve[i].Rollouts, st.Curve[i].Phase, st.Curve[i].Test.Mean = 1<<62, -5, 1e300
			}
			for i := range st.Halves {
				st.Halves[i].Cycle = 1 << 40
			}
			for i := range st.Phases {
				for k := range st.Phases[i].Searched {
					st.Phases[i].Searched[k].Session = 1 << 50
				}
			}
			for i := range st.Steps {
				st.Steps[i].Step, st.Steps[i].Phase, st.Steps[i].Reward = -1<<40, 7, -3
			}
		},
		"ragged matrix": func(st *recipe.Story) {
			st.Matrix = []recipe.Matrix{{}, {Weights: []recipe.MatrixAxis{{Name: "a"}}, Cells: [][]recipe.Cell{{}, {{}, {}}}}}
		},
		"failed session": func(st *recipe.Story) {
			st.Phases[1].Searched[0] = recipe.SearchedSession{Error: "the proposer failed"}
			st.Phases[1].Incoming, st.Phases[1].Search = nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := base.story()
			change(st)
			r := build(t, []*recipe.Story{st})
			checkFigures(t, r)
			source, doc := page1(t, r)
			checkSelfContained(t, source, doc)
			var b bytes.Buffer
			if err := errors.Join(r.WriteText(&b), r.WriteJSON(&b)); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), st.Dir) {
				t.Error("the run is not named")
			}
		})
	}
}
