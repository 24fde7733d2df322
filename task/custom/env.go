package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// env is an episode's world.
type env struct {
	tools []Tool
	rules whale.Rules
}

func (e *env) Tools() []whale.ToolSpec {
	out := make([]whale.ToolSpec, len(e.tools))
	for i, t := range e.tools {
		out[i] = t.Spec()
	}
	return out
}

// Call runs a tool. Whatever the caller got wrong comes back as the result's error, in one line.
func (e *env) Call(ctx context.Context, name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
	at := slices.IndexFunc(e.tools, func(t Tool) bool { return t.Spec().Name == name })
	if at < 0 {
		if len(e.tools) == 0 {
			return whale.ToolResult{Error: "this task has no tools"}, nil
		}
		return whale.ToolResult{Error: task.UnknownTool(name, e.Tools())}, nil
	}
	if text := task.CheckArgs(e.tools[at].Spec(), args); text != "" {
		return whale.ToolResult{Error: text}, nil
	}
	r, err := e.tools[at].Call(ctx, args)
	if err != nil {
		return whale.ToolResult{}, fmt.Errorf("custom: %w", err)
	}
	return r, nil
}

// Render knows no blocks.
func (e *env) Render(block string, _ map[string]json.RawMessage) (string, error) {
	return "", &whale.HarnessError{Failure: whale.Failure{
		Reason: whale.FailContract,
		Detail: fmt.Sprintf("env.render: got block %q, but this task has no blocks", clip(block)),
	}}
}

func (e *env) Rules() whale.Rules { return e.rules }

func (e *env) Close() error { return nil }

// open compiles the rules. Errors begin with the key.
func (c RulesConfig) open() (whale.Rules, error) {
	var r whale.Rules
	if len(c.Patterns) > maxWords {
		return r, fmt.Errorf("rules.patterns: got %d, want at most %d", len(c.Patterns), maxWords)
	}
	for i, p := range c.Patterns {
		if strings.TrimSpace(p.Name) == "" || len(p.Name) > 64 {
			return r, fmt.Errorf("rules.patterns[%d].name: got %q, want a word for messages", i, clip(p.Name))
		}
		expr, err := compile(p.Regex)
		if err != nil {
			return r, fmt.Errorf("rules.patterns[%d].regex: %w", i, err)
		}
		if expr.MatchString("") {
			return r, fmt.Errorf("rules.patterns[%d].regex: got one that matches nothing at all, which every text holds", i)
		}
		r.Patterns = append(r.Patterns, whale.Pattern{Name: p.Name, Expr: expr})
	}
	var steps []func(string) string
	for i, f := range c.Fold {
		switch f {
		case "lower":
			steps = append(steps, strings.ToLower)
		case "space":
			steps = append(steps, func(s string) string { return strings.Join(strings.Fields(s), " ") })
		default:
			return r, unknownWord(fmt.Sprintf("rules.fold[%d]", i), f, []string{"lower", "space"})
		}
	}
	if len(steps) > 0 {
		r.Fold = func(s string) string {
			for _, step := range steps {
				s = step(s)
			}
			return s
		}
	}
	return r, nil
}

// about tells what counts as an answer, in a line.
func (v VerifierConfig) about() string {
	v = v.resolved()
	how := map[string]string{
		KindExact:      "it must equal a reference answer character by character",
		KindNormalised: "it must equal a reference answer, but for case, punctuation and articles",
		KindNumeric:    "it must be the same number as a reference answer",
		KindJudge:      "a language model compares it with the reference answers",
		CompareNone:    "having it is enough",
	}[v.Compare]
	switch v.Kind {
	case KindNumeric:
		return "The answer is the last number in the final reply; " + how + "."
	case KindBoxed:
		place := "the final reply"
		if v.TailChars > 0 {
			place = fmt.Sprintf("the last %d characters of the final reply", v.TailChars)
		}
		return `The answer is the content of the last \boxed{…} in ` + place + "; " + how + "."
	case KindTag:
		return fmt.Sprintf("The answer is what stands between the last <%s> and its </%s> in the final reply; %s.", v.Tag, v.Tag, how)
	case KindRegex:
		return fmt.Sprintf("The answer is the last match of the regular expression %s (of its first group, if it has one) in the final reply; %s.", v.Pattern, how)
	case KindJSONSchema:
		if v.Equal {
			return "The final reply, or the last fenced block in it, must be JSON that meets a schema and equals a reference answer."
		}
		return "The final reply, or the last fenced block in it, must be JSON that meets a schema."
	case KindCommand:
		return "A program judges the final reply."
	}
	return "The answer is the final reply; " + how + "."
}
