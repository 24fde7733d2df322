package compare_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale/harness/compare"
	"github.com/seed-095d5d2b/whale/harness/star"
)

var update = flag.Bool("update", false, "write the golden files anew")

func source(t testing.TB, pattern string) compare.Source {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: got %v, %v, want one file", pattern, paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return compare.Source{Name: filepath.Base(paths[0]), Text: text}
}

// TestGolden compares the pairs under testdata; want.txt and want.json hold what is said of them.
func TestGolden(t *testing.T) {
	cases, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			dir := filepath.Join("testdata", c.Name())
			d, err := compare.Compare(source(t, dir+"/a.*"), source(t, dir+"/b.*"))
			if err != nil {
				t.Fatal(err)
			}
			d.CountTokens(func(s string) int { return (len(s) + 3) / 4 })
			data, err := d.JSON()
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]string{"want.txt": d.Text(), "want.json": string(data)} {
				path := filepath.Join(dir, name)
				if *update {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
				}
			}
		})
	}
}

// TestSummaries says the summary of each pair beside its name, so that a golden file cannot be updated without a look.
func TestSummaries(t *testing.T) {
	for name, want := range map[string]struct {
		summary string
		same    bool
	}{
		"candidate":  {"2 functions changed, 1 added, SYSTEM_PROMPT +20 −1 words, USER_PROMPT +2 −1 words, 1 constant changed, 1 removed, 1 other statement added", false},
		"comments":   {"only comments differ", true},
		"formatting": {"only formatting differs", true},
		"moved":      {"1 statement moved", false},
		"renamed":    {"1 function changed, code_of renamed to first_block", false},
		"prompts":    {"1 function changed, SYSTEM_PROMPT changed in spaces alone, USER_PROMPT removed with 7 words", false},
		"same":       {"the same program, to the byte", true},
		"python":     {"1 function changed, 1 added, observe renamed to watch, +9 −5 lines", false},
		"node":       {"2 functions changed, +4 −4 lines", false},
	} {
		d, err := compare.Compare(source(t, "testdata/"+name+"/a.*"), source(t, "testdata/"+name+"/b.*"))
		if err != nil {
			t.Fatal(err)
		}
		if d.Summary != want.summary || d.Same != want.same {
			t.Errorf("%s:\ngot  %s, same %v\nwant %s, same %v", name, d.Summary, d.Same, want.summary, want.same)
		}
	}
}

func TestErrors(t *testing.T) {
	good := compare.Source{Name: "a.star", Text: []byte("x = 1\n")}
	for _, tt := range []struct {
		source compare.Source
		want   string
	}{
		{compare.Source{Name: "b.lua"}, `compare: b.lua: got the extension ".lua", want .star, .py, .js or .mjs`},
		{compare.Source{Name: "b.star", Text: []byte("x = \"\xff\"")}, "compare: b.star: got bytes that are not UTF-8"},
		{compare.Source{Name: "b.py", Text: make([]byte, compare.MaxSource+1)}, "compare: b.py: got 65537 bytes, want at most 65536"},
		{compare.Source{Name: "b.star", Text: []byte("import re\n")}, "b.star:1:1: got import, want primary expression (starlark has no import: the modules re, json, math, text, chat and loop are there without it)"},
	} {
		if _, err := compare.Compare(good, tt.source); err == nil || err.Error() != tt.want {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
		if _, err := compare.Compare(tt.source, good); err == nil || err.Error() != tt.want {
			t.Errorf("the other way round: got %v\nwant %s", err, tt.want)
		}
	}
	var list star.Errors
	if _, err := compare.Compare(good, compare.Source{Name: "b.star", Text: []byte("x = ")}); !errors.As(err, &list) {
		t.Errorf("got %T, want star.Errors", err)
	}
}

// TestWordsJoin asks of random prompts that the edits give back both texts, and that equal texts have none.
func TestWordsJoin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"the", "answer", "is", " ", "  ", "\n", "é", "box", "{x}"}), 0, 30)
		a := strings.Join(words.Draw(rt, "a"), "")
		b := strings.Join(words.Draw(rt, "b"), "")
		prompt := func(s string) compare.Source {
			quoted, _ := json.Marshal(s)
			return compare.Source{Name: "p.star", Text: []byte("SYSTEM_PROMPT = " + string(quoted) + "\n")}
		}
		d, err := compare.Compare(prompt(a), prompt(b))
		if err != nil {
			rt.Fatal(err)
		}
		if a == b {
			if len(d.Prompts) != 0 || !d.Same {
				rt.Fatalf("got %+v of equal prompts", d)
			}
			return
		}
		if len(d.Prompts) != 1 {
			rt.Fatalf("got %d prompts", len(d.Prompts))
		}
		var old, new string
		for _, e := range d.Prompts[0].Edits {
			if e.Change != compare.Added {
				old += e.Text
			}
			if e.Change != compare.Removed {
				new += e.Text
			}
		}
		if old != a || new != b {
			rt.Fatalf("the edits %+v give %q and %q, want %q and %q", d.Prompts[0].Edits, old, new, a, b)
		}
	})
}

// TestComments reads comments beside all that looks like one.
func TestComments(t *testing.T) {
	const base = "x = \"# no\" # one\ny = '''\n# no\n''' + r\"\\\"# no\" + \"\\\\\" # two\n"
	for changed, comments := range map[string]bool{
		strings.Replace(base, "# one", "# eins", 1):     true,
		strings.Replace(base, "# two", "", 1):           true,
		strings.Replace(base, "\n# no", "\n# nein", 1):  false,
		strings.Replace(base, "\"# no\"", "\"# n\"", 1): false,
		strings.Replace(base, " # two", "  # two", 1):   false,
	} {
		d, err := compare.Compare(compare.Source{Name: "a.star", Text: []byte(base)}, compare.Source{Name: "b.star", Text: []byte(changed)})
		if err != nil || d.Comments != comments || changed == base {
			t.Errorf("%q: got comments %v, %s, %v", changed, d.Comments, d.Summary, err)
		}
	}
}

// TestHostileShapes asks that programs of the largest size are compared in a moment, whatever their shape.
func TestHostileShapes(t *testing.T) {
	for name, src := range map[string]string{
		"operators":  "x = 1" + strings.Repeat("+1", 32000) + " # the end",
		"statements": strings.Repeat("x\n", 32000) + "# the end",
		"constants":  strings.Repeat("a=1\n", 16000) + "# the end",
		"functions":  strings.Repeat("def f():0\n", 6000) + "# the end",
	} {
		start := time.Now()
		if _, err := compare.Compare(compare.Source{Name: "a.star", Text: []byte(src)}, compare.Source{Name: "b.star", Text: []byte("y\n" + src[:len(src)-8])}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 10*time.Second { // half a second on an idle machine
			t.Errorf("%s: it took %v", name, took)
		}
		t.Log(name, time.Since(start))
	}
}

// TestHugePrompt asks that a prompt of the largest program is compared at once.
func TestHugePrompt(t *testing.T) {
	prompt := func(word string) compare.Source {
		return compare.Source{Name: "p.star", Text: []byte(`SYSTEM_PROMPT = "` + strings.Repeat(word+" and ", 8000) + "\"\n")}
	}
	d, err := compare.Compare(prompt("one"), prompt("two"))
	if err != nil || d.Prompts[0].WordsAdded < 8000 {
		t.Errorf("got %s, %v", d.Summary, err)
	}
}
