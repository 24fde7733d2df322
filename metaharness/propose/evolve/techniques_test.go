package evolve

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// lookingUp are episodes that ask a tool for the whole question, of whose result they see the beginning. Every fourth is rewarded, every fourth
// uses no tool, and another fourth runs on until its reply is cut.
func lookingUp(n int) []metaharness.Trajectory {
	var out []metaharness.Trajectory
	for i := range n {
		question := fmt.Sprintf("Who is the father of Rex Number%s?", strings.Repeat("o", i))
		found := "Letter: Who is the father of Rex?\nRex: Rex is the son of Max."
		t := metaharness.Trajectory{
			Example: i + 1, View: map[string]string{"question": question}, Answer: 2, Reason: "no <end> in the answer", Usage: whale.Usage{ModelCalls: 2, ToolCalls: 1},
			Turns: []metaharness.Turn{
				{N: 1, Reply: "<ask>" + question + "</ask>", Finish: "stop", Tokens: 14, Tools: []metaharness.ToolUse{{Name: "ask", Args: map[string]string{"words": question, "most": "1"}, Text: found}}},
				{N: 2, Reply: "It is Max.", Finish: "stop", Tokens: 12, Messages: []metaharness.TurnMessage{{Role: "assistant", ReplyOf: 1}, {Role: "tool", Content: found[:20]}}},
			},
		}
		switch i % 4 {
		case 0:
			t.Reward, t.Reason = 1, ""
		case 1:
			t.Turns, t.Answer, t.Usage = []metaharness.Turn{{N: 1, Reply: "<end>Rex</end>", Finish: "stop", Tokens: 9}}, 1, whale.Usage{ModelCalls: 1}
			t.Reason = "wrong"
		case 2:
			t.Turns, t.Answer, t.Usage = []metaharness.Turn{{N: 1, Reply: "Well, well, well", Finish: "length", Tokens: 90}}, 1, whale.Usage{ModelCalls: 1}
		}
		out = append(out, t)
	}
	return out
}

func TestToolStudy(t *testing.T) {
	s := studyTool(lookingUp(8))
	if s == nil || s.name != "ask" || s.arg != "words" || s.field != "question" || s.quoting != 1 || s.whole != 1 || s.clipped != 1 || s.asking != 1 || s.several != 1 || s.failed != 0 {
		t.Errorf("got %+v", s)
	}
	if !s.looksUp() {
		t.Error("a tool that is asked the question looks nothing up")
	}
	if s := studyTool(lackingBox(8)); s == nil || s.looksUp() || s.name != "calculator" {
		t.Errorf("got %+v, want a tool that is not asked in the task's words", s)
	}
	if s := studyTool(nil); s != nil || s.looksUp() {
		t.Errorf("got %+v without episodes", s)
	}
	if got := replyTokens(lookingUp(8)); got != 14 {
		t.Errorf("got %d tokens of whole replies, want 14", got)
	}
}

// The bound on replies leaves good ones room.
func TestReplyLimit(t *testing.T) {
	for tokens, want := range map[int]int64{0: 0, 3: 24, 16: 24, 17: 32, 100: 152} {
		e := evidence{replyTokens: tokens}
		if got := e.replyLimit(); got != want {
			t.Errorf("replies of %d tokens: got a bound of %d, want %d", tokens, got, want)
		}
	}
	e, q := evidence{replyTokens: 20}, &param{Name: "max_tokens"}
	if e.leavesRoom(q, 19) || !e.leavesRoom(q, 20) || e.leavesRoom(q, 2048) || !e.leavesRoom(&param{Name: "turns"}, 1) {
		t.Error("a bound must lie between what good replies need and a few times as much")
	}
}

// Each technique edits what it is about.
func TestTechniques(t *testing.T) {
	for _, c := range []struct {
		program, op string
		want        []string
	}{
		{"asks.star", opConverse, []string{
			"return converse(task, model, env, user = USER_PROMPT, turns = TURNS, act = act, observe = observe, done = loop.has_tag(\"end\"), nudge = \"Reply with <end>words</end>.\", nudges = 4, first = \"Ask with <ask>words</ask>.\")\n",
			"TURNS = 8\n", "\ndef converse(task, model, env,",
		}},
		{"asks.star", opBound, []string{"observe = observe, max_tokens = 24)"}},
		{"asks.star", opRemind, []string{`observe = observe, done = loop.has_tag("end"), nudge = "Reply with <end>words</end>.", nudges = 4)`}},
		{"asks.star", opFocus, []string{`env.call("ask", words = focus(words), most = 1)`, "\ndef focus(words):"}},
		{"asks.star", opPresent, []string{`env.call("ask", words = words, most = 4)`, "observe = present)", "SHOWN = 1  #"}},
		{"asks.star", opUncut, []string{"observe = loop.observe)"}},
		{"asks.star", opLookup, []string{
			`user = USER_PROMPT + "\n" + lookup(task, env), turns`, `env.call("ask", words = focus(task.question), most = 4)`, "\ndef focus(", "\ndef present(",
		}},
		{"own.star", opInsist, []string{`nudge = "Go on.", first = "Ask with <ask>words</ask>.")`}},
		{"own.star", opBound, []string{`nudge = "Go on.", max_tokens = 24)`}},
		{"own.star", opConverse, nil}, // it has one
		{"start.star", opFocus, nil},  // see below: its tool is not asked in the task's words
		{"start.star", opLookup, nil},
		{"start.star", opRemind, []string{`done = loop.has_box, nudge = "Put the final answer in \\boxed{}.", nudges = 4)`}},
	} {
		trajectories := lookingUp(8)
		if c.program == "start.star" {
			trajectories = lackingBox(8)
		}
		p, err := parse(read(t, c.program), testLibrary(t))
		if err != nil {
			t.Fatal(err)
		}
		e := gather(&workspace{about: testAbout, lib: testLibrary(t)}, trajectories)
		var got *mutation
		for _, m := range techniques(p, &e) {
			if m.op == c.op && (got == nil || m.weight > got.weight) {
				got = &m
			}
		}
		if (got == nil) != (c.want == nil) {
			t.Errorf("%s: %s: got %v, want %q", c.program, c.op, got, c.want)
			continue
		}
		if got == nil {
			continue
		}
		source, err := splice(p.source, got.edits)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(source, want) {
				t.Errorf("%s: %s: got\n%s\nwant in it\n%s", c.program, c.op, source, want)
			}
		}
	}
}

// rebuilt is a program with every technique that evidence speaks for.
func rebuilt(t *testing.T) string {
	t.Helper()
	dir := makeWorkspace(t, evaluated(read(t, "asks.star"), 0.1, 0, lookingUp(8)))
	ws, err := readWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{dir: dir, ws: ws, bandit: learn(nil), cache: map[whale.ID]*studied{}, rand: rand.New(rand.NewPCG(1, 2))}
	if err := s.studyAll(); err != nil {
		t.Fatal(err)
	}
	c, ok := s.overhaul(&ws.programs[0], 1)
	if !ok {
		t.Fatal("nothing was rebuilt")
	}
	if again, ok := s.overhaul(&archived{line: ws.programs[0].line, source: c.source, program: mustParse(t, c.source)}, 1); ok {
		t.Errorf("there is still something to rebuild: %s", again.used[0].what)
	}
	return c.source
}

func mustParse(t *testing.T, source string) *program {
	t.Helper()
	p, err := parse(source, testLibrary(t))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A rebuilt program asks the tool about the names in the question first, shows what tells something, asks again for what a reply lacks, and
// answers with a reply that lacks nothing.
func TestRebuiltProgram(t *testing.T) {
	program, err := star.Load("rebuilt.star", []byte(rebuilt(t)))
	if err != nil {
		t.Fatal(err)
	}
	h := &harnesstest.Host{
		View:    map[string]string{"question": "Who is the father of Rex Number?"},
		Replies: []harnesstest.Reply{{Text: "Well"}, {Text: "<ask>Where is Max?</ask>"}, {Text: "<end>Max</end>"}},
		Tools: []whale.ToolSpec{{Name: "ask", Parameters: []whale.ToolParameter{
			{Name: "words", Type: "string", Required: true}, {Name: "most", Type: "integer"},
		}}},
	}
	var asked []string
	h.Tool = func(_ string, args map[string]json.RawMessage) (whale.ToolResult, error) {
		asked = append(asked, string(args["words"])+string(args["most"]))
		return whale.ToolResult{Text: "Is it Rex?\nRex is a son of Max.\nMax is old.\nSo is Rex.\nAnd Tim."}, nil
	}
	ref, err := program.Run(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if ref != 3 || h.Usage.ModelCalls != 3 {
		t.Errorf("got the answer %d after %d model calls, want 3 after 3", ref, h.Usage.ModelCalls)
	}
	if len(asked) != 2 || asked[0] != `"Rex Number"4` || asked[1] != `"Max"4` {
		t.Errorf("got the tool asked %q, want for the names", asked)
	}
	first, second := h.Messages(1), h.Messages(2)
	if text := first[0].Content; !strings.Contains(text, "Rex is a son of Max.") || strings.Contains(text, "Is it Rex?") {
		t.Errorf("got a first message %q, want what tells something", text)
	}
	if text := second[len(second)-1].Content; text != "Reply with <end>words</end>." {
		t.Errorf("got the reminder %q", text)
	}
}

// A search begins with programs that change much, of which the first changes all that can be.
func TestFirstSession(t *testing.T) {
	all := rebuilt(t)
	for seed := range uint32(10) {
		start := evaluated(read(t, "asks.star"), 0.1, 0, lookingUp(8))
		start.line.Session = -1
		dir := makeWorkspace(t, start)
		propose(t, dir, seed, 3)
		whole, large := 0, 0
		for name, text := range written(t, dir) {
			if !strings.HasSuffix(name, ".star") {
				continue
			}
			whole += int(share(strings.Count(text, "\ndef ") == strings.Count(all, "\ndef ")))
			large += int(share(strings.Contains(name, rebuild.String())))
		}
		if whole == 0 || large < 2 {
			t.Errorf("seed %d: got %d programs with everything and %d rebuilt ones, want some", seed, whole, large)
		}
	}
}
