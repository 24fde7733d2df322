package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Figures are pictures alone: they run nothing and fetch nothing, say in words what they show, have colours for dark pages, and are on a page.
func TestFigures(t *testing.T) {
	root, _ := setup(t)
	paths, err := filepath.Glob(filepath.Join(root, "docs/figures/*.svg"))
	if err != nil || len(paths) < 3 {
		t.Fatalf("got %d figures, %v; the test looks in the wrong place", len(paths), err)
	}
	docs := documents(t, root)
	for _, path := range paths {
		name := filepath.Base(path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range figureProblems(string(text)) {
			t.Errorf("%s: %s", name, problem)
		}
		shown := false
		for _, doc := range docs {
			shown = shown || strings.Contains(doc, "](figures/"+name+")")
		}
		if !shown {
			t.Errorf("%s: no page shows it", name)
		}
	}
}

func figureProblems(text string) (problems []string) {
	if !strings.Contains(text, "prefers-color-scheme: dark") {
		problems = append(problems, "it has no colours for dark pages")
	}
	found := map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return append(problems, err.Error())
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		found[e.Name.Local] = true
		switch e.Name.Local {
		case "script", "foreignObject", "image", "use", "a", "animate", "set":
			problems = append(problems, "it has the element "+e.Name.Local)
		}
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || strings.Contains(a.Value, "url(") && !strings.Contains(a.Value, "url(#") {
				problems = append(problems, "it has the attribute "+a.Name.Local)
			}
		}
	}
	for _, want := range []string{"svg", "title", "desc"} {
		if !found[want] {
			problems = append(problems, "it has no element "+want)
		}
	}
	return problems
}

func TestFigureProblems(t *testing.T) {
	const whole = "<svg><title>t</title><desc>d</desc><style>@media (prefers-color-scheme: dark){}</style>"
	for _, tc := range []struct{ text, want string }{
		{whole + "</svg>", ""},
		{whole, "unexpected EOF"},
		{whole + "<script/></svg>", "the element script"},
		{whole + "<rect onclick='x'/></svg>", "the attribute onclick"},
		{whole + "<rect fill='url(http://x)'/></svg>", "the attribute fill"},
		{whole + "<rect marker-end='url(#a)'/></svg>", ""},
		{"<svg><title/><desc/></svg>", "dark pages"},
		{strings.Replace(whole, "<desc>d</desc>", "", 1) + "</svg>", "no element desc"},
	} {
		got := strings.Join(figureProblems(tc.text), "; ")
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

// All methods are in their figure, with what they spend.
func TestMethodsFigure(t *testing.T) {
	text, err := methodsFigure(source{})
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{
		">whale<": 1, ">adaptive<": 1, ">weight-only<": 1, ">harness-only<": 1, ">fst<": 1, ">stagewise<": 1,
		">16 steps, 12 sessions<": 3, ">16 steps, ≤ 12 sessions<": 1, ">16 steps<": 1, ">12 sessions<": 1,
		"class=\"rule\"":    1,
		"<rect class=\"w\"": 1 + 2*4 + 2, // the legend, four cycles of whale and fst, one phase of weight-only and stagewise
	} {
		if got := strings.Count(text, what); got != want {
			t.Errorf("%s: got it %d times, want %d", what, got, want)
		}
	}
}

func TestWithout(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"a\nphase 6-x\nb\n\ntried: 1\n", "a\n[…]\n\ntried: 1\n"},
		{"a\n\ntried: 1\n", "a\n\ntried: 1\n"},
		{"a\nphase 6-x\nb\n", "a\nphase 6-x\nb\n"},
	} {
		if got := without(tc.text, "phase 6-", "tried: "); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

// A list of groups says what each key of a group may be, as its check does.
func TestAcceptedList(t *testing.T) {
	root, _ := setup(t)
	sections, err := configSections(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		for _, k := range s.keys {
			if k.path != "schedule.cycles" {
				continue
			}
			got, err := accepted(k)
			if want := "a list of {epochs: 0 to 1000000, sessions: 0 to 1000000}"; err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
			return
		}
	}
	t.Error("schedule.cycles: there is no such key")
}
