// Package cookbook_test plays each harness of the cookbook against a scripted model and asks for what its mechanism promises.
package cookbook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

const (
	question = "A crate holds 12 bottles. How many bottles do 7 crates hold?"
	block    = "```python\n12*7\n```"
)

// world is a host with one tool, which answers with the same text each time, and a model that says the replies.
func world(tool, result string, replies ...string) *harnesstest.Host {
	h := &harnesstest.Host{View: map[string]string{"question": question}}
	for _, s := range replies {
		h.Replies = append(h.Replies, harnesstest.Reply{Text: s})
	}
	arg := "code"
	if tool == "search" {
		arg = "query"
	}
	if tool != "" {
		h.Tools = []whale.ToolSpec{{Name: tool, Parameters: []whale.ToolParameter{{Name: arg, Type: "string", Required: true}}}}
		h.Tool = func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
			return whale.ToolResult{Text: result}, nil
		}
	}
	return h
}

// failing makes the tool complain.
func failing(h *harnesstest.Host, complaint string) *harnesstest.Host {
	h.Tool = func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
		return whale.ToolResult{Error: complaint}, nil
	}
	return h
}

func limited(h *harnesstest.Host, change func(*whale.Limits)) *harnesstest.Host {
	h.Limits = harnesstest.Limits()
	change(&h.Limits)
	return h
}

// play runs a harness, which must not fail.
func play(t *testing.T, name string, h *harnesstest.Host) whale.ReplyRef {
	t.Helper()
	program, err := harness.Load(name + ".star")
	if err != nil {
		t.Fatal(err)
	}
	ref, err := program.Run(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// ended asks how an episode ended: which reply is the answer, and how many calls it took.
func ended(t *testing.T, h *harnesstest.Host, ref, want whale.ReplyRef, calls, tools int) {
	t.Helper()
	if ref != want || h.Usage.ModelCalls != calls || h.Usage.ToolCalls != tools {
		t.Errorf("got the answer %d after %d model calls and %d tool calls, want %d after %d and %d",
			ref, h.Usage.ModelCalls, h.Usage.ToolCalls, want, calls, tools)
	}
}

// last is the last message of the n-th model call.
func last(t *testing.T, h *harnesstest.Host, n int) whale.Message {
	t.Helper()
	m := h.Messages(n)
	if len(m) == 0 {
		t.Fatalf("there is no model call %d", n)
	}
	return m[len(m)-1]
}

func contains(t *testing.T, what, s, want string) {
	t.Helper()
	if !strings.Contains(s, want) {
		t.Errorf("%s: got %q, want %q in it", what, s, want)
	}
}

// chats gives the model calls as they were asked for.
func chats(h *harnesstest.Host) []whale.Request {
	return slices.DeleteFunc(slices.Clone(h.Requests), func(r whale.Request) bool { return r.Op != whale.OpChat })
}

// queries gives the argument of each tool call.
func queries(h *harnesstest.Host) []string {
	var out []string
	for _, r := range h.Requests {
		if r.Op == whale.OpTool {
			for _, v := range r.Args {
				var s string
				if json.Unmarshal(v, &s) == nil {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// text is all that a model call was shown.
func text(h *harnesstest.Host, n int) string {
	var b strings.Builder
	for _, m := range h.Messages(n) {
		b.WriteString(m.Content + "\n")
	}
	return b.String()
}

// mechanisms has a test for each harness of this folder.
var mechanisms = map[string]func(t *testing.T, name string){
	"retry-missing-tag": func(t *testing.T, name string) {
		h := world("", "", "84 bottles", "it is 84", "<answer>84</answer>", "unused")
		ended(t, h, play(t, name, h), 3, 3, 0)
		contains(t, "nudge", last(t, h, 2).Content, "has no <answer>")
		if m := h.Messages(2); m[len(m)-2].Reply != 1 {
			t.Errorf("the model is not shown its reply: %+v", m)
		}
		h = world("", "", "<answer>84</answer>")
		ended(t, h, play(t, name, h), 1, 1, 0)
		h = world("", "", "never")
		ended(t, h, play(t, name, h), 3, 3, 0)
		h = limited(world("", "", "never"), func(l *whale.Limits) { l.ModelCalls = 1 })
		ended(t, h, play(t, name, h), 1, 1, 0)
	},
	"forced-answer": func(t *testing.T, name string) {
		think := strings.Repeat("so ", 70)
		h := limited(world("", "", think, "\\boxed{84}"), func(l *whale.Limits) { l.Tokens = 100 })
		ended(t, h, play(t, name, h), 2, 2, 0)
		if got := chats(h)[0].MaxTokens; got != 60 {
			t.Errorf("the first reply may have %d tokens, want 60: the reserve is not kept", got)
		}
		contains(t, "final", last(t, h, 2).Content, "Give your best answer now")
		h = limited(world("", "", "12 * 7 = \\boxed{84}"), func(l *whale.Limits) { l.Tokens = 100 })
		ended(t, h, play(t, name, h), 1, 1, 0)
		h = limited(world("", "", "hm", "\\boxed{84}"), func(l *whale.Limits) { l.ModelCalls = 2 })
		ended(t, h, play(t, name, h), 2, 2, 0)
		contains(t, "final at the last call", last(t, h, 2).Content, "Give your best answer now")
	},
	"query-rewriting": func(t *testing.T, name string) {
		h := world("search", "Crates hold dozens.", "\"bottles per crate\"\nor so", "<answer>84</answer>")
		ended(t, h, play(t, name, h), 2, 2, 1)
		if got := queries(h); !slices.Equal(got, []string{"bottles per crate"}) {
			t.Errorf("got the queries %q", got)
		}
		contains(t, "passages", last(t, h, 2).Content, "Crates hold dozens.")
		h = world("search", "Crates.", "I would search for the number of bottles in one crate of them", "<answer>84</answer>")
		play(t, name, h)
		if got := queries(h); !slices.Equal(got, []string{"crate holds 12 bottles many bottles 7 crates hold"}) {
			t.Errorf("got the queries %q, want the question's own words", got)
		}
	},
	"state-line": func(t *testing.T, name string) {
		h := limited(world("calculator", "84\n", block, block, "\\boxed{84}"), func(l *whale.Limits) { l.Tokens, l.ToolCalls = 100, 3 })
		ended(t, h, play(t, name, h), 3, 3, 2)
		contains(t, "first state", last(t, h, 1).Content, "[turn 1 of 6, 3 tool calls and 100 tokens left]")
		contains(t, "third state", last(t, h, 3).Content, "84\n\n[turn 3 of 6, 1 tool calls and 94 tokens left]")
		if got := strings.Count(text(h, 3), "[turn"); got != 3 {
			t.Errorf("got %d state lines in the third prompt, want 3", got)
		}
	},
	"compact-history": func(t *testing.T, name string) {
		h := world("calculator", "84\nand more", block, block, block, block, "\\boxed{84}")
		ended(t, h, play(t, name, h), 5, 5, 4)
		m := h.Messages(5)
		var refs []whale.ReplyRef
		for _, one := range m {
			if one.Reply > 0 {
				refs = append(refs, one.Reply)
			}
		}
		if !slices.Equal(refs, []whale.ReplyRef{3, 4}) {
			t.Errorf("the fifth prompt shows the replies %v whole, want the latest two", refs)
		}
		contains(t, "summary", m[2].Content, "Computed before:\n12*7 gave 84\n12*7 gave 84")
		if strings.Contains(text(h, 3), "Computed before") {
			t.Error("two turns are compacted already")
		}
	},
	"self-check": func(t *testing.T, name string) {
		h := world("", "", "\\boxed{83}", "7 * 12 is 84: \\boxed{84}")
		ended(t, h, play(t, name, h), 2, 2, 0)
		contains(t, "check", last(t, h, 2).Content, "Somebody proposes 83.")
		for _, m := range h.Messages(2) {
			if m.Reply != 0 {
				t.Error("the check sees the first reasoning")
			}
		}
		h = world("", "", "\\boxed{84}", "it does")
		ended(t, h, play(t, name, h), 1, 2, 0)
		h = world("", "", "no box")
		ended(t, h, play(t, name, h), 1, 1, 0)
	},
	"two-attempts": func(t *testing.T, name string) {
		h := world("", "", "\\boxed{84}", "so \\boxed{84}")
		ended(t, h, play(t, name, h), 1, 2, 0)
		h = world("", "", "\\boxed{19}", "12 * 7 = \\boxed{84}", "B")
		ended(t, h, play(t, name, h), 2, 3, 0)
		contains(t, "judge", last(t, h, 3).Content, "Solution B:\n12 * 7 = \\boxed{84}")
		h = world("", "", "\\boxed{84}", "\\boxed{19}", "A is right")
		ended(t, h, play(t, name, h), 1, 3, 0)
		h = world("", "", "no box", "\\boxed{84}")
		ended(t, h, play(t, name, h), 2, 2, 0)
	},
	"trim-results": func(t *testing.T, name string) {
		result := "About glass.\n\nA crate of bottles holds twelve.\n\nAbout wood.\n\nAbout paper.\n\nSeven crates of bottles.\n\n" + strings.Repeat("bottles crate ", 200)
		h := world("search", result, "<search>crate</search>", "<answer>84</answer>")
		ended(t, h, play(t, name, h), 2, 2, 1)
		got := last(t, h, 2).Content
		contains(t, "result", got, "A crate of bottles holds twelve.\n\nSeven crates of bottles.")
		if strings.Contains(got, "glass") || len(strings.Fields(got)) > 120 {
			t.Errorf("the result is not trimmed: %d words, %q", len(strings.Fields(got)), got)
		}
		h = failing(world("search", "", "<search>crate</search>", "<answer>84</answer>"), "the index is closed")
		play(t, name, h)
		contains(t, "error", last(t, h, 2).Content, "the index is closed")
	},
	"error-feedback": func(t *testing.T, name string) {
		h := failing(world("calculator", "", block, block, "\\boxed{84}"), "line 1: syntax error\nat 3")
		ended(t, h, play(t, name, h), 3, 3, 2)
		contains(t, "first", last(t, h, 2).Content, "This failed:\n12*7\nline 1: syntax error\nWrite one expression")
		contains(t, "second of a kind", last(t, h, 3).Content, "Leave the tool alone")
		h = world("calculator", "84", block, "\\boxed{84}")
		ended(t, h, play(t, name, h), 2, 2, 1)
		if got := last(t, h, 2).Content; got != "84" {
			t.Errorf("a good result is shown as %q", got)
		}
	},
	"plan-then-act": func(t *testing.T, name string) {
		h := world("", "", "1. read\n2. multiply", "12 and 7", "84", "\\boxed{84}")
		ended(t, h, play(t, name, h), 4, 4, 0)
		for n, want := range map[int]string{2: "Do step 1.", 3: "Do step 2.", 4: "Now state the answer in \\boxed{}."} {
			if got := last(t, h, n).Content; got != want {
				t.Errorf("call %d: got %q, want %q", n, got, want)
			}
		}
		if got := h.Messages(4)[2].Reply; got != 1 {
			t.Errorf("the plan does not stay as it was sampled: reply %d", got)
		}
		h = limited(world("", "", "1. a\n2. b\n3. c", "x"), func(l *whale.Limits) { l.ModelCalls = 3 })
		play(t, name, h)
		contains(t, "last call", last(t, h, 3).Content, "Now state the answer")
	},
	"demonstrations": func(t *testing.T, name string) {
		h := world("", "", "12 * 7 = 84, so \\boxed{84}.")
		ended(t, h, play(t, name, h), 1, 1, 0)
		m := h.Messages(1)
		var roles []string
		for _, one := range m {
			roles = append(roles, one.Role)
		}
		if got := strings.Join(roles, " "); got != "system user assistant user assistant user assistant user assistant user" {
			t.Errorf("got the roles %s", got)
		}
		if m[len(m)-1].Content != question || strings.Contains(text(h, 1), "{question}") {
			t.Errorf("got %+v", m)
		}
	},
	"stop-and-budget": func(t *testing.T, name string) {
		h := limited(world("search", "Twelve.", "<search>crate size", "<answer>84</answer>"), func(l *whale.Limits) { l.Tokens = 90 })
		ended(t, h, play(t, name, h), 2, 2, 1)
		asked := chats(h)
		if asked[0].MaxTokens != 30 || asked[1].MaxTokens != 44 || !slices.Contains(asked[0].Stop, "</search>") || slices.Contains(asked[0].Stop, "</answer>") {
			t.Errorf("got budgets %d and %d, stop texts %q", asked[0].MaxTokens, asked[1].MaxTokens, asked[0].Stop)
		}
		if got := queries(h); !slices.Equal(got, []string{"crate size"}) {
			t.Errorf("got the queries %q", got)
		}
		h = limited(world("search", "x", strings.Repeat("hm ", 200)), func(l *whale.Limits) { l.Tokens = 90 })
		play(t, name, h)
		if h.Usage.SampledTokens > 30 {
			t.Errorf("a rambling reply took %d of 90 tokens", h.Usage.SampledTokens)
		}
	},
	"format-reminder": func(t *testing.T, name string) {
		h := world("search", "Twelve.", "<search>crate</search>", "<search>bottles</search>", "<answer>84</answer>")
		ended(t, h, play(t, name, h), 3, 3, 2)
		for n := 1; n <= 3; n++ {
			contains(t, "the last message", last(t, h, n).Content, "nothing else.")
			if got := strings.Count(text(h, n), "nothing else."); got != 1 {
				t.Errorf("call %d: the reminder is there %d times", n, got)
			}
		}
	},
	"fallback-without-tool": func(t *testing.T, name string) {
		h := failing(world("calculator", "", block, block, "12 * 7 = \\boxed{84}"), "the tool is down")
		ended(t, h, play(t, name, h), 3, 3, 2)
		contains(t, "with the tool", h.Messages(2)[0].Content, "```python")
		contains(t, "by hand", h.Messages(3)[0].Content, "Compute by hand")
		h = world("", "", block, "\\boxed{84}")
		ended(t, h, play(t, name, h), 2, 2, 0)
		contains(t, "no tool from the start", h.Messages(1)[0].Content, "Compute by hand")
		contains(t, "no tool", last(t, h, 2).Content, "There is no tool.")
		h = limited(world("calculator", "84", block, "\\boxed{84}"), func(l *whale.Limits) { l.ToolCalls = 1 })
		ended(t, h, play(t, name, h), 2, 2, 1)
		contains(t, "used up", h.Messages(2)[0].Content, "Compute by hand")
	},
	"repeat-guard": func(t *testing.T, name string) {
		h := world("search", "Twelve.", "<search>crate size</search>", "<search>Size crate</search>", "<search>crate size</search>", "<answer>84</answer>")
		ended(t, h, play(t, name, h), 4, 4, 1)
		contains(t, "remark", last(t, h, 3).Content, "You have searched for this before. The result was:\nTwelve.")
		contains(t, "final", last(t, h, 4).Content, "Stop searching.")
		h = world("search", "Twelve.", "<search>a</search>", "<search>b</search>", "<answer>84</answer>")
		ended(t, h, play(t, name, h), 3, 3, 2)
		h = world("search", "Twelve.", "<search>a</search>")
		ended(t, h, play(t, name, h), 4, 4, 1) // it never stops by itself
	},
}

func TestMechanisms(t *testing.T) {
	for _, r := range recipes(t) {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range harness.Check(r.name+".star", []byte(r.source)) {
				t.Errorf("%s", f)
			}
			test, ok := mechanisms[r.name]
			if !ok {
				t.Fatal("no test shows that this mechanism does what it says")
			}
			test(t, r.name)
		})
	}
	for name := range mechanisms {
		if _, err := os.Stat(name + ".star"); err != nil {
			t.Errorf("%s: a test without its harness: %v", name, err)
		}
	}
}

// TestTightLimits asks that no recipe breaks a limit, however little an episode may spend.
func TestTightLimits(t *testing.T) {
	says := []string{"hm hm hm", "<search>crate</search>", block, "<answer>84</answer>", "1. a\n2. b", "\\boxed{84}"}
	for _, r := range recipes(t) {
		program, err := harness.Load(r.name + ".star")
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{"calculator", "search"} {
			for calls := 1; calls <= 3; calls++ {
				for _, tools := range []int{0, 1} {
					for _, tokens := range []int{1, 4, 60} {
						for i := range says {
							h := limited(world(tool, "Twelve.", append(says[i:len(says):len(says)], says[:i]...)...), func(l *whale.Limits) {
								l.ModelCalls, l.ToolCalls, l.Tokens = calls, tools, tokens
							})
							if _, err := program.Run(t.Context(), h); err != nil {
								t.Fatalf("%s: %d model calls, %d tool calls, %d tokens, the model begins with %q: %v", r.name, calls, tools, tokens, says[i], err)
							}
						}
					}
				}
			}
		}
	}
}

// recipe is a harness of this folder: "# Title", "#", then the lines that say when it helps.
type recipe struct {
	name, title, about, source, code string
}

func recipes(t *testing.T) []recipe {
	t.Helper()
	paths, err := filepath.Glob("*.star")
	if err != nil {
		t.Fatal(err)
	}
	var out []recipe
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, code, ok := strings.Cut(string(data), "\n\n")
		lines := strings.Split(head, "\n")
		if !ok || len(lines) < 3 || lines[1] != "#" {
			t.Fatalf("%s: got %q, want a title, an empty comment and when it helps", path, head)
		}
		r := recipe{name: strings.TrimSuffix(path, ".star"), source: string(data), code: code, title: strings.TrimPrefix(lines[0], "# ")}
		for _, l := range lines[2:] {
			r.about += strings.TrimPrefix(l, "# ") + "\n"
		}
		if !strings.HasPrefix(r.about, "Helps ") {
			t.Errorf("%s: got %q, want when it helps", path, r.about)
		}
		out = append(out, r)
	}
	if len(out) < 12 {
		t.Errorf("got %d recipes, want a dozen", len(out))
	}
	return out
}
