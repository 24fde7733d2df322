package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"What is 5 + 4?":           "what is 5 + 4",
		"1,234 and 12,34 and 007":  "1234 and 12 34 and 7",
		"3.50 or .5 or 2.0":        "3.5 or 5 or 2",
		"ＡＢ１２":                     "ab 12",
		"zero\u200bwidth 1\u200b2": "zerowidth 12",
		"Größe, e2e4!":             "größe e 2 e 4",
		"":                         "",
		"…?!":                      "",
	} {
		if got := joined(tokens(text, 100)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestUsual(t *testing.T) {
	for _, n := range []string{"0", "7", "12", "60", "100", "256", "384", "1024", "4096", "350", "99", "0.25", "1000000"} {
		if !usual(n) {
			t.Errorf("%s: got an unusual number", n)
		}
	}
	for _, n := range []string{"13", "47", "347", "405", "1871", "3.14159", "12865"} {
		if usual(n) {
			t.Errorf("%s: got a usual number", n)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{NGram: 2}, {NGram: -1}, {Chance: 2}, {Chance: -1}, {RareShare: 1}, {Answers: -1}, {Numbers: -1}, {OpaqueBytes: -1}} {
		if _, err := NewCorpus(nil, o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
	c := corpusOf(t, nil) // of no examples, whose names are looked for all the same
	if got := rulesOf(t, c, "x.star", harnessOf(`X = "GSM8K"`, "pass")); !slices.Equal(got, []string{RuleName}) {
		t.Errorf("got %v", got)
	}
}

func TestErrors(t *testing.T) {
	c := factCorpus(t)
	for file, src := range map[string]string{"x.star": "def run(", "x.lua": "", "x": "", "x.py": "\xff", "large.py": strings.Repeat("#", maxSource+1)} {
		if found, err := c.Audit(file, []byte(src)); err == nil {
			t.Errorf("%s: got %v and no error", file, found)
		}
	}
}

// TestThresholds asks that each threshold of the options moves its rule.
func TestThresholds(t *testing.T) {
	list := sums(300)
	few := harnessOf("X = [471, 883, 1297, 6143, 557]", "pass")
	answers := harnessOf(`X = ["Port Ellinor", "Marit Oskarsen"]`, "pass")
	packed := harnessOf(`X = "qk9Zp3LxT7vB2mWn8RcY5dHs1JfG"`, "pass")
	piece := harnessOf(`X = "leave before the storm of Vesterhav"`, "pass")
	branch := harnessOf("", `if task.question.startswith("471 letters"): print(1)`)
	for name, test := range map[string]struct {
		rule, src string
		strict    Options
	}{
		"numbers": {RuleVolume, few, Options{Numbers: 4}},
		"answers": {RuleAnswer, answers, Options{Answers: 1.5}},
		"opaque":  {RuleOpaque, packed, Options{OpaqueBytes: 20}},
		"n-gram":  {RuleQuote, piece, Options{NGram: 5}},
		"branch":  {RuleBranch, branch, Options{RareShare: 0.9}},
	} {
		t.Run(name, func(t *testing.T) {
			all := list[:0:0]
			for i, f := range facts {
				all = append(all, example(fmt.Sprintf("nq-%05d", 70100+37*i), f[0], fmt.Sprintf("%q", f[1])))
			}
			for i := range 60 {
				all = append(all, example(fmt.Sprintf("nq-%05d", 80000+i), "471 letters tell of "+word(i)+".", `"x"`))
			}
			for _, strict := range []bool{false, true} {
				o := Options{}
				if strict {
					o = test.strict
				}
				c, err := NewCorpus(all, o)
				if err != nil {
					t.Fatal(err)
				}
				if got := slices.Contains(rulesOf(t, c, "x.star", test.src), test.rule); got != strict {
					t.Errorf("with %+v: got %v", o, got)
				}
			}
		})
	}
}

// TestAnswersOfAllKinds indexes answers that are no plain strings.
func TestAnswersOfAllKinds(t *testing.T) {
	c := corpusOf(t, []whale.Example{
		example("a", "q one", `{"text": "Port Ellinor", "aliases": ["The Ellinor Docks", 4711]}`),
		example("b", "q two", `12.75`), example("c", "q three", `plain Ellinor words`), example("d", "q four", `null`), example("e", "q five", ``),
	})
	for _, key := range []string{"port ellinor", "the ellinor docks", "4711", "12.75", "plain ellinor words"} {
		if _, ok := c.answers[key]; !ok {
			t.Errorf("the answer %q is not indexed: %v", key, c.answers)
		}
	}
}

// TestSpeed holds 20,000 examples: to index them takes less than a second, and an ordinary audit less than 50 milliseconds, on an idle machine.
// The best of a few tries counts, and a busy machine is given time.
func TestSpeed(t *testing.T) {
	list := sums(20_000)
	best := func(f func()) time.Duration {
		least := time.Hour
		for range 3 {
			start := time.Now()
			f()
			least = min(least, time.Since(start))
		}
		return least
	}
	var c *Corpus
	built := best(func() { c = corpusOf(t, list) })
	src := []byte(harnessOf(`SYSTEM_PROMPT = "`+strings.Repeat("Think of the problem, then write the steps and the answer. ", 40)+`"`,
		"q = task.question.lower()\nif \"how many\" in q: print(1)\nif q.startswith(\"what is\"): print(2)\nif re.search(r\"in all\\?$\", q): print(3)\nif len(q.split()) > 20: print(4)"))
	took := best(func() {
		if _, err := c.Audit("x.star", src); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d examples indexed in %v, an audit takes %v", len(list), built, took)
	if built > 5*time.Second || took > 500*time.Millisecond {
		t.Errorf("got %v and %v, want below 1s and 50ms on an idle machine", built, took)
	}
}
