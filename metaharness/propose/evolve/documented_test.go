package evolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// What the description of a task shows of calls, and no more than that.
func TestFindExamples(t *testing.T) {
	lib := testLibrary(t)
	for _, c := range []struct {
		about string
		want  string // function, first argument, options and their defaults, text
	}{
		{`- env.render("rules", short = False): the rules`, `env.render rules short=False env.render("rules")`},
		{`env.render("rules", lines = 3, short = True).`, `env.render rules lines=3 short=True env.render("rules")`},
		{`env.render("hint"), env.render("hint")`, `env.render hint env.render("hint")`},
		{`env.call("find", query = …, top = 2)`, `env.call find top=2 `}, // what to look for is not known here
		{`env.call(name, top = 2)`, ""},
		{`env.render("hint", "more")`, ""},
		{`env.render("a", lines = )`, ""},
		{`env.render(`, ""},
		{`other.render("hint")`, ""},
		{`env.render("hint", name = "x")`, `env.render hint env.render("hint")`},
	} {
		var got []string
		for _, x := range findExamples(c.about, lib) {
			words := []string{x.fn, x.subject}
			for _, o := range x.options {
				words = append(words, o.name+"="+o.text)
			}
			got = append(got, strings.Join(append(words, x.text), " "))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}

// A call gets the options that the description shows of it, a documented neighbour, or another text instead.
func TestExampleEdits(t *testing.T) {
	lib, shows := testLibrary(t), read(t, "shows.star")
	examples := findExamples(`env.render("rules", short = False, lines = 3), env.render("hint"), env.call("calculator", code = …)`, lib)
	for _, c := range []struct {
		source string
		want   []string // changed pieces
	}{
		{shows, []string{
			`env.render("rules", short = True)`, `env.render("rules", lines = 6)`, `chat.user(env.render("hint") + USER_PROMPT)`,
			`chat.user((env.render("rules") + "\n" + env.render("hint")) + USER_PROMPT)`, `messages.append(chat.user(env.render("rules")))`,
		}},
		{strings.ReplaceAll(shows, `("rules")`, `("rules", short = True, lines = 12)`), []string{
			`env.render("rules", short = False, lines = 12)`, `env.render("rules", short = True, lines = 24)`,
		}},
	} {
		p, err := parse(c.source, lib)
		if err != nil {
			t.Fatal(err)
		}
		var products []string
		for _, m := range exampleEdits(p, &evidence{examples: examples}) {
			source, err := splice(c.source, m.edits)
			if err != nil {
				t.Fatalf("%s: %v", m.what, err)
			}
			if _, err := star.Load("m.star", []byte(source)); err != nil || source == c.source {
				t.Errorf("%s: got error %v, or no change:\n%s", m.what, err, source)
			}
			if !strings.Contains(source, `env.render("other", lines = 2)`) {
				t.Errorf("%s: what the description does not show was edited:\n%s", m.what, source)
			}
			products = append(products, source)
		}
		for _, want := range c.want {
			if !slices.ContainsFunc(products, func(s string) bool { return strings.Contains(s, want) }) {
				t.Errorf("got no product with %s", want)
			}
		}
	}
}

// An option that was set is seldom set back.
func TestOptionIsKept(t *testing.T) {
	lib, shows := testLibrary(t), read(t, "shows.star")
	examples := findExamples(`env.render("rules", short = False)`, lib)
	weigh := func(source string) float64 {
		p, err := parse(source, lib)
		if err != nil {
			t.Fatal(err)
		}
		all := exampleEdits(p, &evidence{examples: examples})
		if len(all) != 1 {
			t.Fatalf("got %d edits, want 1", len(all))
		}
		return all[0].scale
	}
	set, back := weigh(shows), weigh(strings.ReplaceAll(shows, `("rules")`, `("rules", short = True)`))
	if back > set/5 {
		t.Errorf("got %v for setting it and %v for setting it back, want far less", set, back)
	}
}

// A prompt-only search is given candidates that it can take.
func TestPromptOnly(t *testing.T) {
	source := read(t, "start.star")
	for seed := range uint32(10) {
		dir := makeWorkspace(t, evaluated(source, 0.1, 0, lackingBox(8)))
		proposeWith(t, dir, seed, 3, true)
		for name, text := range written(t, dir) {
			if !strings.HasSuffix(name, ".star") {
				continue
			}
			if err := star.PromptOnly([]byte(source), []byte(text)); err != nil {
				t.Errorf("seed %d: %s: %v", seed, name, err)
			}
		}
	}
}

// An error in the last of many turns is not a want of turns.
func TestGaveUpAfterError(t *testing.T) {
	all := outOfTurns(4)
	for i := range all {
		last := &all[i].Turns[1].Tools[0]
		*last = metaharness.ToolUse{Name: last.Name, Error: "no such move"}
		if i > 0 {
			all[i].Usage.ModelCalls = 1
		}
	}
	if e := gather(&workspace{about: testAbout}, all); e.outOfTurns != 0.25 || e.toolError != 1 {
		t.Errorf("got out of turns %v and tool errors %v, want 0.25 and 1", e.outOfTurns, e.toolError)
	}
}

// wrongAfterError are episodes that end in order and wrong, after a tool error each.
func wrongAfterError(n int) []metaharness.Trajectory {
	all := outOfTurns(n)
	for i := range all {
		all[i].Reason = "wrong"
		all[i].Turns[0].Tools = []metaharness.ToolUse{{Name: "calculator", Error: "cannot do that"}}
		all[i].Turns[1].Tools = nil
	}
	return all
}

// Where tools answer with errors, and replies are in order and wrong, programs get more tries and show all that they can.
func TestPatienceAndDetail(t *testing.T) {
	lib := testLibrary(t)
	p, err := parse(read(t, "shows.star"), lib)
	if err != nil {
		t.Fatal(err)
	}
	e := gather(&workspace{about: testAbout, lib: lib}, wrongAfterError(8))
	products := map[string]string{}
	for _, m := range techniques(p, &e) {
		source, err := splice(p.source, m.edits)
		if err != nil {
			t.Fatal(err)
		}
		products[m.op+" "+m.detail] = source
	}
	for key, want := range map[string]string{
		"patience 8":   "RETRIES = 8\n",
		"patience 4":   "RETRIES = 4\n",
		"detail short": `env.render("rules", short = True)`,
	} {
		if !strings.Contains(products[key], want) {
			t.Errorf("%s: got %q, want in it %s", key, products[key], want)
		}
	}
	calm := gather(&workspace{about: testAbout, lib: lib}, lackingBox(8))
	for _, m := range techniques(p, &calm) {
		if m.op == opPatience || m.op == opDetail {
			t.Errorf("got %s without evidence for it", m.what)
		}
	}
}

// A count of tries does not grow without end.
func TestTriesAreBounded(t *testing.T) {
	lib := testLibrary(t)
	for _, c := range []struct {
		source string
		most   string
	}{{"RETRIES = 16\n", "32"}, {"RETRIES = 30\n", "31"}, {"CLIP_CHARS = 300\n", "1200"}} {
		p, err := parse(c.source, lib)
		if err != nil {
			t.Fatal(err)
		}
		most := int64(0)
		for _, m := range constantEdits(p, &evidence{}) {
			var v int64
			if _, err := fmt.Sscan(m.edits[0].text, &v); err != nil {
				t.Fatal(err)
			}
			most = max(most, v)
		}
		if itoa(most) != c.most {
			t.Errorf("%s: got at most %d, want %s", c.source, most, c.most)
		}
	}
}
