package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
	"unicode"
)

//go:embed page.html
var pageSource string

//go:embed page.css
var pageStyle string

// page is what the template is given.
type page struct {
	Style     template.CSS
	Resamples int
	Title     string
	Groups    []groupPage
}

type groupPage struct {
	*Group
	Anchor                                                                            string
	Summary, Accuracy, Differences, Passing, Ledger, Metrics, HalvesTable, Tried, All gridTable
	figures                                                                           []drawn
	ArmPages                                                                          []armPage
	RunPages                                                                          []runPage
}

// Measure is mean@k by its name.
func (g groupPage) Measure() string { return g.meanAt() }

// AtRandom is the accuracy of chance in percent, "" where the answers cannot be guessed.
func (g groupPage) AtRandom() string {
	if g.Chance == nil {
		return ""
	}
	return percent(*g.Chance)
}

// LevelsOf names the methods whose final accuracy the table of passing shows.
func (g groupPage) LevelsOf() string { return printable(g.levelsOf()) }

// Figures are those whose file name begins with a prefix.
func (g groupPage) Figures(prefix string) []drawn {
	var out []drawn
	for _, f := range g.figures {
		if strings.HasPrefix(f.kind, prefix) {
			out = append(out, f)
		}
	}
	return out
}

// drawn is a figure as it stands in the page. The SVG is the plot library's, with all text escaped.
type drawn struct {
	kind           string
	Title, Caption string
	SVG            template.HTML
}

type armPage struct {
	Label string
	Runs  []runPage
}

type runPage struct {
	Run
	Diff []diffLine
}

type diffLine struct{ Class, Text string }

// gridTable is a table of a page.
type gridTable struct {
	Head    []string
	Rows    [][]string
	Numeric []bool // columns of numbers
}

func newGridTable(rows [][]string) gridTable {
	t := gridTable{Head: rows[0], Rows: rows[1:], Numeric: make([]bool, len(rows[0]))}
	for c := range t.Numeric {
		t.Numeric[c] = len(t.Rows) > 0
		for _, row := range t.Rows {
			// A number begins with one, or with its sign, or is an interval, or is missing.
			if v := strings.TrimLeft(row[c], "[+-−"); v != "" && !unicode.IsDigit([]rune(v)[0]) && v != "never" {
				t.Numeric[c] = false
			}
		}
	}
	return t
}

// Class is the CSS class of a column.
func (t gridTable) Class(column int) string {
	if t.Numeric[column] {
		return "n"
	}
	return ""
}

// WriteHTML writes the whole report as one file that needs no other: no script, no font, no picture from elsewhere.
func (r *Report) WriteHTML(w io.Writer) error {
	p := page{Style: template.CSS(pageStyle), Resamples: r.Resamples, Title: "whale report"}
	for i := range r.Groups {
		g, err := r.groupPage(i)
		if err != nil {
			return err
		}
		p.Groups = append(p.Groups, g)
	}
	if len(r.Groups) == 1 && len(r.Groups[0].Runs) == 1 {
		p.Title = "whale report: " + plain(r.Groups[0].Runs[0].Name, 60)
	}
	t, err := template.New("page").Funcs(template.FuncMap{"line": printable}).Parse(pageSource)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

func (r *Report) groupPage(i int) (groupPage, error) {
	g := &r.Groups[i]
	out := groupPage{
		Group: g, Anchor: "task-" + string(rune('a'+i%26)),
		Summary: newGridTable(g.summaryRows()), Accuracy: newGridTable(g.tableRows()), Differences: newGridTable(g.differenceRows()), Passing: newGridTable(g.passingRows()), Ledger: newGridTable(g.ledgerRows()),
		Metrics: newGridTable(g.metricRows()), HalvesTable: newGridTable(g.halvesRows()), Tried: newGridTable(g.triedRows()), All: newGridTable(g.runRows()),
	}
	for _, f := range g.figures("") {
		svg, err := f.inline()
		if err != nil {
			return out, err
		}
		out.figures = append(out.figures, drawn{f.name, f.title, f.caption, template.HTML(svg)})
	}
	for _, a := range g.Arms {
		ap := armPage{Label: a.Label}
		for _, run := range g.runsOf(&a) {
			ap.Runs = append(ap.Runs, runPage{*run, diffLines(run.Diff)})
		}
		out.ArmPages = append(out.ArmPages, ap)
	}
	return out, nil
}

// diffLines classes the lines of a unified diff.
func diffLines(diff string) []diffLine {
	var out []diffLine
	for line := range strings.Lines(visible(diff)) {
		l := diffLine{Text: line}
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			l.Class = "hunk"
		case strings.HasPrefix(line, "+"):
			l.Class = "add"
		case strings.HasPrefix(line, "-"):
			l.Class = "del"
		}
		out = append(out, l)
	}
	return out
}
