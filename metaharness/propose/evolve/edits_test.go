package evolve

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/metaharness"
)

func testLibrary(t testing.TB) *catalogue {
	t.Helper()
	data, err := json.Marshal(star.Library())
	if err != nil {
		t.Fatal(err)
	}
	lib, err := readCatalogue(data)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// Every mutation of every program gives a program that loads, and no other text changes than the span that is edited.
func TestEveryMutation(t *testing.T) {
	names := []string{"start.star", "rich.star", "parts.star", "shows.star", "asks.star", "own.star"}
	var entries []entry
	for i, name := range names {
		trajectories := lackingBox(8)
		switch name {
		case "asks.star", "own.star":
			trajectories = lookingUp(8)
		case "shows.star":
			trajectories = wrongAfterError(8)
		}
		entries = append(entries, evaluated(read(t, name), 0.1*float64(i), 0, trajectories))
	}
	dir := makeWorkspace(t, entries...)
	ws, err := readWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{dir: dir, ws: ws, bandit: learn(nil), cache: map[whale.ID]*studied{}}
	if err := s.studyAll(); err != nil {
		t.Fatal(err)
	}
	ops := map[string]int{}
	total, loaded := 0, 0
	for i := range ws.programs {
		parent := &ws.programs[i]
		if parent.program == nil {
			t.Fatalf("%s cannot be edited", names[i])
		}
		for _, m := range s.mutations(parent.program, parent) {
			total++
			ops[m.op]++
			source, err := splice(parent.source, m.edits)
			if err != nil {
				t.Fatalf("%s: %s: %v", names[i], m.what, err)
			}
			if source == parent.source {
				t.Errorf("%s: %s changes nothing", names[i], m.what)
			}
			if m.weight <= 0 || math.IsNaN(m.weight) || priors[m.op] == 0 {
				t.Errorf("%s: %s: weight %v, prior %v", names[i], m.what, m.weight, priors[m.op])
			}
			if check(source, ws.known) != nil {
				continue // invent throws it away
			}
			loaded++
			if _, err := star.Load("m.star", []byte(source)); err != nil {
				t.Errorf("%s: %s: it does not load: %v\n%s", names[i], m.what, err, source)
			}
		}
	}
	for op := range priors {
		if ops[op] == 0 {
			t.Errorf("no mutation of kind %s", op)
		}
	}
	if loaded < total*9/10 || total < 500 {
		t.Errorf("got %d of %d mutations that resolve, want nine in ten of at least 500", loaded, total)
	}
}

// Edits keep formatting and comments.
func TestEditsInPlace(t *testing.T) {
	for _, c := range []struct{ program, op, what, want string }{
		{"start.star", opConstant, "TURNS 2 → 4", "TURNS = 4  # model calls\n"},
		{"start.star", opChoice, `which "first" → "last"`, `code = text.fence(reply.text, lang = "python", which = "last")`},
		{"start.star", opArgument, "loop.run gets nudges", ""}, // nothing to count without a nudge
		{"start.star", opArgument, "loop.run gets max_tokens = 512", "act = act, observe = observe, max_tokens = 512)\n"},
		{"start.star", opPart, "act of loop.run: act → loop.tools", "turns = TURNS, act = loop.tools, observe = observe)"},
		{"start.star", opWithout, "loop.run without act = act", "turns = TURNS, observe = observe)"},
		{"start.star", opSay, `SYSTEM_PROMPT: say "Be brief." last`, `SYSTEM_PROMPT = "Be brief."`},
		{"start.star", opSay, `USER_PROMPT: say "Be brief." last`, `USER_PROMPT = "{question}\nPut the final answer in \\boxed{}.\nBe brief."`},
		{"rich.star", opBoolean, "VERBOSE True → False", "VERBOSE = False\n"},
		{"rich.star", opArgument, "loop.run gets max_tokens = 512", "        keep = 4,\n        max_tokens = 512,\n    )\n"},
		{"rich.star", opWithout, "loop.run without nudges = 2", "        nudge = \"Go on. Größe?\",\n        keep = 4,\n"},
		{"rich.star", opConstant, "keep 4 → 8", "        nudges = 2,\n        keep = 8,\n    )\n"},
		{"rich.star", opUnsay, `SYSTEM_PROMPT: leave out "Use the tool."`, "SYSTEM_PROMPT = \"Be brief. Do not guess.\"\n"},
		{"rich.star", opReorder, `SYSTEM_PROMPT: "Be brief." after "Use the tool."`, `SYSTEM_PROMPT = "Use the tool. Be brief. Do not guess."`},
		{"rich.star", opSay, `USER_PROMPT: say "Be careful." first`, "USER_PROMPT = \"\"\"Be careful.\n{question}\n\nThink first."},
		{"parts.star", opPart, `observe of loop.run: loop.clip_observe(300) → loop.observe`, `observe = loop.observe, done = loop.has_box`},
		{"parts.star", opReword, `nudge of loop.run: "Go on." → "Give your final answer now, in`, `nudge = "Give your final answer now, in \\boxed{}.")`},
		{"parts.star", opLocal, "done = finished() from", "    return \"answer\" in reply.text\n"},
	} {
		entries := []entry{evaluated(read(t, c.program), 0.1, 0, lackingBox(8))}
		if c.program != "rich.star" {
			entries = append(entries, evaluated(read(t, "rich.star"), 0.1, 0, nil))
		}
		dir := makeWorkspace(t, entries...)
		ws, err := readWorkspace(dir)
		if err != nil {
			t.Fatal(err)
		}
		s := &session{dir: dir, ws: ws, cache: map[whale.ID]*studied{}}
		if err := s.studyAll(); err != nil {
			t.Fatal(err)
		}
		parent := &ws.programs[0]
		got := ""
		for _, m := range s.mutations(parent.program, parent) {
			if m.op == c.op && strings.HasPrefix(m.what, c.what) {
				if got, err = splice(parent.source, m.edits); err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		switch {
		case c.want == "" && got != "":
			t.Errorf("%s: %s %s: got a mutation, want none", c.program, c.op, c.what)
		case c.want != "" && !strings.Contains(got, c.want):
			t.Errorf("%s: %s %s: got\n%s\nwant in it\n%s", c.program, c.op, c.what, got, c.want)
		}
	}
}

func TestSpliceRefusesOverlaps(t *testing.T) {
	for _, edits := range [][]edit{
		{{span{0, 3}, "x"}, {span{2, 4}, "y"}},
		{{span{3, 2}, "x"}},
		{{span{0, 9}, "x"}},
	} {
		if got, err := splice("abcdef", edits); err == nil {
			t.Errorf("%v: got %q, want an error", edits, got)
		}
	}
}

// What is taken from rewarded replies is shared by several of them and holds no number.
func TestMining(t *testing.T) {
	got := mine(lackingBox(16))
	if len(got) == 0 || got[0] != "So the result is therefore" && got[0] != "Sincerely yours" {
		t.Errorf("got %q, want what the rewarded replies share", got)
	}
	for _, s := range got {
		if numeric.MatchString(s) {
			t.Errorf("got %q, which holds a number", s)
		}
	}
	if got := mine(lackingBox(8)); len(got) != 0 {
		t.Errorf("got %q from two rewarded replies, want nothing", got)
	}
}

// A quotation counts only where it is about many episodes and holds no number.
func TestMarkers(t *testing.T) {
	got := findMarkers("Write `<end>` last.", map[string]int{
		`no \boxed{} in the reply`: 8, `want "Paris"`: 1, `got "12", want "13"`: 5, "no text": 2,
	})
	if len(got) != 2 || got[0].text != `\boxed{}` || got[1].text != "<end>" || got[0].weight <= got[1].weight {
		t.Errorf("got %+v, want the box and then the end", got)
	}
}

func TestEvidence(t *testing.T) {
	w := &workspace{about: testAbout}
	e := gather(w, append(outOfTurns(3), lackingBox(4)...))
	if e.failing != 6 || e.outOfTurns != 0.5 || e.atLimit != 0.5 || e.unmet != 1 || e.noTool != 0 {
		t.Errorf("got %+v", e)
	}
	if e := gather(w, nil); e.weight(axisTurns) <= 0 || e.says(axisTurns) != "no episode failed" {
		t.Errorf("no episodes: got weight %v and %q", e.weight(axisTurns), e.says(axisTurns))
	}
	cutOff := []metaharness.Trajectory{{Answer: 1, Turns: []metaharness.Turn{{N: 1, Finish: whale.FinishLength}}}}
	if e := gather(w, cutOff); e.length != 1 || e.weight(axisBrevity) < 2*e.weight(axisTurns) {
		t.Errorf("cut replies: got %+v", e)
	}
}

// Whatever a program is, its edits do not panic, and those that splice change something.
func FuzzMutations(f *testing.F) {
	for _, name := range []string{"start.star", "rich.star", "parts.star"} {
		f.Add(read(f, name))
	}
	f.Add("A = 1\nSYSTEM_PROMPT = 'ä' + ('b')\nloop.run()\nloop.run(*x, turns = 2)\nloop.run(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)\n")
	f.Add("USER_PROMPT = r'''\\x {q} . .\n'''\ndef a(): pass")
	lib := testLibrary(f)
	e := gather(&workspace{about: testAbout}, lackingBox(4))
	f.Fuzz(func(t *testing.T, source string) {
		p, err := parse(source, lib)
		if err != nil {
			return
		}
		parent := archived{source: source, program: p, line: metaharness.IndexLine{ID: "x", Mean: new(float64)}}
		ms := constantEdits(p, &e)
		ms = append(ms, argumentEdits(p, lib, &e)...)
		ms = append(ms, promptEdits(p, &e, nil)...)
		ms = append(ms, crossovers(p, &parent, []archived{{line: metaharness.IndexLine{ID: "y", Mean: new(float64)}, source: source, program: p}})...)
		for _, m := range ms {
			if _, err := splice(source, m.edits); err != nil {
				t.Fatalf("%s: %v", m.what, err)
			}
		}
	})
}

// The largest programs that an archive may hold are edited within bounds.
func TestLargePrograms(t *testing.T) {
	lib := testLibrary(t)
	e := gather(&workspace{about: testAbout}, lackingBox(4))
	for name, source := range map[string]string{
		"calls":     "def run(task, model, env): " + strings.Repeat("loop.run(task,model,env);", 2500) + "\n",
		"constants": strings.Repeat("A = 1\n", 10000),
		"prompt":    "SYSTEM_PROMPT = \"" + strings.Repeat("Yes. ", 12000) + "\"\n",
		"umlauts":   "SYSTEM_PROMPT = \"" + strings.Repeat("ä. ", 12000) + "\"\n",
	} {
		p, err := parse(source, lib)
		if err != nil {
			t.Fatal(err)
		}
		ms := append(constantEdits(p, &e), argumentEdits(p, lib, &e)...)
		ms = append(ms, promptEdits(p, &e, nil)...)
		if n := len(ms); n == 0 || n > 60000 {
			t.Errorf("%s: got %d mutations, want some, and at most 60000", name, n)
		}
		for _, m := range ms[:min(len(ms), 50)] {
			if next, err := splice(source, m.edits); err != nil || next == source {
				t.Errorf("%s: %s: changed nothing, or %v", name, oneLine(m.what), err)
			}
		}
	}
}
