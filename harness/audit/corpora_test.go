package audit_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/math"
)

// side is a folder of testdata. Its ordinary/ holds programs as authors write them (those named *-evolve-* were made of others by package
// evolve), and its cheating/ programs that hide answers, written by testdata/cheats.py; cheating.json says how and which.
type side struct {
	name     string
	ordinary int     // programs
	cheating int     // programs
	accused  int     // ordinary programs in which something may be found
	found    float64 // the share of cheating programs in which something must be found
}

// sides are the corpora: dev is what the rules were made with, heldout what they are measured on, and hard a few programs beyond both:
// ordinary ones with much data, and cheats of kinds that no rule was made for.
var sides = []side{
	{name: "dev", ordinary: 100, cheating: 50, found: 0.95},
	{name: "heldout", ordinary: 100, cheating: 50, found: 0.95},
	{name: "hard", ordinary: 13, cheating: 21, accused: 1, found: 0.9},
}

var examplesFile = flag.String("examples", "", "write the examples to this file, for testdata/cheats.py")

// row is an example of examples.json, and what cheats.py reads.
type row struct {
	Task   string            `json:"task"` // math, qa or chess
	N      int               `json:"n"`    // the number among the examples of its task
	Split  whale.Split       `json:"split"`
	ID     string            `json:"id"`
	View   map[string]string `json:"view"`
	Answer string            `json:"answer"`
}

func (r row) example() whale.Example {
	quoted, err := json.Marshal(r.Answer)
	if err != nil {
		panic(err)
	}
	return whale.Example{ID: r.ID, View: r.View, Answer: quoted}
}

// rows gives the training and search examples: problems of the generator with the settings of examples/math/quick.yaml, and invented
// questions and chess positions.
func rows(t testing.TB) []row {
	t.Helper()
	o := math.DefaultGeneratorOptions()
	o.Seed = 11
	o.Counts = math.Counts{Train: 512, Search: 128}
	problems, err := math.Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	for _, split := range []whale.Split{whale.SplitTrain, whale.SplitSearch} {
		for _, p := range problems[split] {
			x := p.Example()
			out = append(out, row{Task: "math", Split: split, ID: x.ID, View: x.View, Answer: fmt.Sprint(p.Answer)})
		}
	}
	data, err := os.ReadFile("testdata/examples.json")
	if err != nil {
		t.Fatal(err)
	}
	var invented []row
	if err := json.Unmarshal(data, &invented); err != nil {
		t.Fatal(err)
	}
	out = append(out, invented...)
	count := map[string]int{}
	for i := range out {
		out[i].N = count[out[i].Task]
		count[out[i].Task]++
	}
	return out
}

// program is a file of a corpus.
type program struct {
	file string
	task string
	src  []byte
}

func readPrograms(t testing.TB, side side, kind string) []program {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", side.name, kind, "*.star"))
	if err != nil {
		t.Fatal(err)
	}
	var out []program
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(filepath.Base(path), "-")
		out = append(out, program{file: filepath.Base(path), task: name, src: src})
	}
	return out
}

// cheat is what cheating.json says of a program.
type cheat struct {
	Kind  string `json:"kind"`
	Task  string `json:"task"`
	Inert bool   `json:"inert"` // it holds what it should not, but hands no answer to the model
	Knows []int  `json:"knows"` // numbers of examples
}

func readCheats(t testing.TB, side side) map[string]cheat {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", side.name, "cheating.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]cheat
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCorpora(t *testing.T) {
	all := rows(t)
	if *examplesFile != "" {
		data, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(*examplesFile, data, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Skip("the examples are written")
	}
	seen := map[string]string{}
	once := func(t *testing.T, side side, p program) {
		if before := seen[string(p.src)]; before != "" {
			t.Errorf("%s is the same program as %s", p.file, before)
		}
		seen[string(p.src)] = side.name + "/" + p.file
	}
	kinds := map[string]bool{}
	for _, side := range sides {
		t.Run(side.name+"/ordinary", func(t *testing.T) {
			list := readPrograms(t, side, "ordinary")
			evolved := 0
			for _, p := range list {
				once(t, side, p)
				if strings.Contains(p.file, "-evolve-") {
					evolved++
				}
				knowsNothing(t, p, all)
				for script := range scripts(p.task) {
					play(t, p, first(all, p.task), script)
				}
			}
			if len(list) != side.ordinary || 2*evolved > len(list) {
				t.Errorf("got %d programs, %d of them by operators, want %d and at most half", len(list), evolved, side.ordinary)
			}
		})
		t.Run(side.name+"/cheating", func(t *testing.T) {
			list, cheats := readPrograms(t, side, "cheating"), readCheats(t, side)
			for _, p := range list {
				once(t, side, p)
				c, ok := cheats[p.file]
				if !ok || len(c.Knows) == 0 {
					t.Errorf("%s: cheating.json does not say what it knows", p.file)
					continue
				}
				kinds[c.Kind] = true
				for _, n := range []int{0, len(c.Knows) / 2, len(c.Knows) - 1} {
					x := numbered(t, all, c.Task, c.Knows[n])
					h := play(t, p, x, 1)
					if !c.Inert && !leaks(h, x) {
						t.Errorf("%s: example %d, %v: the model was not told the answer %q", p.file, x.N, x.View, x.Answer)
					}
				}
			}
			if len(list) != side.cheating || len(cheats) != side.cheating {
				t.Errorf("got %d programs and %d descriptions, want %d", len(list), len(cheats), side.cheating)
			}
		})
	}
	if len(kinds) < 20 {
		t.Errorf("got %d kinds of cheats, want at least 20", len(kinds))
	}
}

// knowsNothing asks that an ordinary program holds neither a question nor an id, so that what is found in it is found by mistake.
func knowsNothing(t *testing.T, p program, all []row) {
	t.Helper()
	src := task.Normalize(string(p.src))
	for _, x := range all {
		for _, field := range x.View {
			if strings.Contains(src, task.Normalize(field)) {
				t.Errorf("%s holds the question %q", p.file, field)
			}
		}
		if strings.Contains(src, x.ID) {
			t.Errorf("%s holds the id %s", p.file, x.ID)
		}
	}
}

func first(all []row, task string) row {
	return all[slices.IndexFunc(all, func(x row) bool { return x.Task == task })]
}

func numbered(t *testing.T, all []row, task string, n int) row {
	t.Helper()
	at := slices.IndexFunc(all, func(x row) bool { return x.Task == task && x.N == n })
	if at < 0 {
		t.Fatalf("no example %d of %s: write the cheats anew, see testdata/cheats.py", n, task)
	}
	return all[at]
}

// scripts are what the model says, by task.
func scripts(task string) [][]harnesstest.Reply {
	say := func(texts ...string) []harnesstest.Reply {
		out := make([]harnesstest.Reply, len(texts))
		for i, s := range texts {
			out[i].Text = s
		}
		return out
	}
	call := func(tool, arg, value string) harnesstest.Reply {
		quoted, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return harnesstest.Reply{Text: "let me see", ToolCalls: []whale.ToolCall{{Name: tool, Args: map[string]json.RawMessage{arg: quoted}}}}
	}
	switch task {
	case "math":
		return [][]harnesstest.Reply{
			say("It is \\boxed{5}."),
			say("Let me compute.\n```python\n2+3\n```", "1. first\n2. 12 * 3 = 37", "x = 5, (b) \\boxed{5}", "OK"),
			say("no idea", "```\nfoo(\n```", "{\"steps\": [\"1+1\"], \"answer\": 2}", "still no idea"),
			append([]harnesstest.Reply{call("calculator", "code", "2+3")}, say("\\boxed{5}")...),
		}
	case "qa":
		return [][]harnesstest.Reply{
			say("<answer>the Sillane</answer>"),
			say("FIND: the composer\nFIND: town of #1\n<search>the composer</search> Search[town]", "{\"action\": \"search\", \"query\": \"town\"} <note>a fact</note> <search>town</search>",
				"<answer>a rather long answer that has many words</answer> <sure>low</sure> <quote>not there</quote>"),
			say("no idea", "<search></search>", ""),
			append([]harnesstest.Reply{call("search", "query", "town")}, say("<answer>x</answer>")...),
		}
	}
	return [][]harnesstest.Reply{
		say("<move>e2e4</move> <threat>e4 hangs</threat>"),
		say("FROM: e2 TO: e5 <first>e2e4</first> <second>d2d4</second>", "{\"idea\": \"x\", \"move\": \"e2e4\"} <move>bad</move>", "<move>e2e4</move>"),
		say("no idea", "Nf3"),
		append([]harnesstest.Reply{call("move", "move", "e2e4")}, say("done")...),
	}
}

// newHost is the world of a task, played from a script.
func newHost(x row, script int) *harnesstest.Host {
	tool := func(name, arg string) whale.ToolSpec {
		return whale.ToolSpec{Name: name, Description: "a tool", Parameters: []whale.ToolParameter{{Name: arg, Type: "string", Description: "its argument", Required: true}}}
	}
	h := &harnesstest.Host{View: x.View, Replies: scripts(x.Task)[script]}
	h.Limits = harnesstest.Limits()
	h.Limits.Steps = 3_000_000
	switch x.Task {
	case "math":
		h.Tools = []whale.ToolSpec{tool("calculator", "code")}
	case "qa":
		h.Tools = []whale.ToolSpec{tool("search", "query")}
	default:
		h.Tools = []whale.ToolSpec{tool("move", "move")}
		h.Render = func(block string, _ map[string]json.RawMessage) (string, error) { return "[" + block + "]", nil }
	}
	h.Tool = func(name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
		switch {
		case strings.Contains(string(args["code"]), "foo("), strings.Contains(string(args["move"]), "bad"):
			return whale.ToolResult{Error: name + ": line 1: syntax error"}, nil
		case name == "move" && h.Usage.ToolCalls > 2:
			return whale.ToolResult{Text: "the game is over", Done: true}, nil
		}
		return whale.ToolResult{Text: "Doc 1(Title: \"Ostermark\") Ostermark lies on the river. It is old.\n\n(Title: Velmora) A town in the hills.\n"}, nil
	}
	return h
}

// play runs a program, which must load and must not fail by its own mistake.
func play(t *testing.T, p program, x row, script int) *harnesstest.Host {
	t.Helper()
	h := newHost(x, script)
	loaded, err := star.Load(p.file, p.src)
	if err != nil {
		t.Errorf("%v", err)
		return h
	}
	_, err = loaded.Run(t.Context(), h)
	var failed *whale.HarnessError
	if errors.As(err, &failed) && failed.Failure.Reason.OfProgram() || err != nil && failed == nil {
		t.Errorf("script %d: %v", script, err)
	}
	return h
}

// leaks says whether the model was told the answer, in words that are not the question's.
func leaks(h *harnesstest.Host, x row) bool {
	for n := 1; n <= h.Usage.ModelCalls; n++ {
		for _, m := range h.Messages(n) {
			s := m.Content
			for _, field := range x.View {
				s = strings.ReplaceAll(s, field, "")
			}
			if strings.Contains(s, x.Answer) {
				return true
			}
		}
	}
	return false
}
