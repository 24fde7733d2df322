package rollout

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-095d5d2b/whale"
)

// rules hold a harness to what the model and the environment must have written themselves (design, invariant 6).
type rules struct {
	whale.Rules
	tools  []whale.ToolSpec
	blocks map[string]bool // texts of the environment, folded, that hold a match of a pattern
}

func newRules(r whale.Rules, tools []whale.ToolSpec, view map[string]string) *rules {
	out := &rules{Rules: r, tools: tools, blocks: map[string]bool{}}
	for _, text := range view {
		out.vouch(text)
	}
	for _, t := range tools {
		out.vouch(t.Description)
		for _, p := range t.Parameters {
			out.vouch(p.Description)
		}
	}
	return out
}

// vouch notes a text that the environment wrote: whole, it may stand in a message.
func (r *rules) vouch(text string) {
	if len(r.Patterns) == 0 || text == "" {
		return
	}
	folded := plain(text)
	for _, p := range r.Patterns {
		if p.Expr.MatchString(folded) {
			r.blocks[folded] = true
			return
		}
	}
}

// checkAuthored checks the arguments of a call that the model must have written: each is a span of the latest reply's text, or an argument of
// a tool call in it, after the task's folding.
func (r *rules) checkAuthored(name string, args map[string]json.RawMessage, calls []whale.ModelCall) error {
	spec, ok := r.tool(name)
	if !ok {
		return nil
	}
	for _, p := range spec.Parameters {
		raw, given := args[p.Name]
		if !p.Authored || !given {
			continue
		}
		if n := len(calls); n == 0 || !r.written(raw, &calls[n-1]) {
			return fail(whale.FailAuthored, "env.call: %s: argument %q is not a span of the model's latest reply", name, p.Name)
		}
	}
	return nil
}

func (r *rules) written(raw json.RawMessage, call *whale.ModelCall) bool {
	value, fold := textOf(raw), r.fold
	if folded := fold(value); folded != "" {
		value = folded
	} else { // nothing that the folding keeps: it would be found everywhere
		fold = func(s string) string { return s }
	}
	if strings.Contains(fold(call.Text), value) {
		return true
	}
	for _, c := range call.ToolCalls {
		for _, arg := range c.Args {
			if strings.Contains(fold(textOf(arg)), value) {
				return true
			}
		}
	}
	return false
}

func (r *rules) fold(s string) string {
	if r.Fold == nil {
		return s
	}
	return r.Fold(s)
}

func (r *rules) tool(name string) (whale.ToolSpec, bool) {
	for _, t := range r.tools {
		if t.Name == name {
			return t, true
		}
	}
	return whale.ToolSpec{}, false
}

// textOf is a JSON string's text; a number or a boolean as written.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// checkChat looks for planted text in all that a harness gives to the model: its messages, its own tools, its stop texts (which can filter).
func (r *rules) checkChat(q whale.Request) error {
	if len(r.Patterns) == 0 {
		return nil
	}
	for i, m := range q.Messages {
		if m.Reply != 0 {
			continue
		}
		for _, text := range []string{m.Content, m.Name} {
			if bad := r.planted(text); bad != "" {
				return fail(whale.FailPlanted, "model.chat: messages[%d]: a %s that stands in no whole block of the environment", i, bad)
			}
		}
	}
	for i, t := range q.Tools {
		for _, text := range specTexts(t) {
			if bad := r.planted(text); bad != "" {
				return fail(whale.FailPlanted, "model.chat: tools[%d]: a %s that the environment did not write", i, bad)
			}
		}
	}
	for i, text := range q.Stop {
		if bad := r.planted(text); bad != "" {
			return fail(whale.FailPlanted, "model.chat: stop[%d]: a %s that the environment did not write", i, bad)
		}
	}
	return nil
}

// checkInputs looks for planted text in what a harness hands to the environment, which might give it back as its own. Authored arguments are
// the model's.
func (r *rules) checkInputs(what, name string, args map[string]json.RawMessage) error {
	if len(r.Patterns) == 0 {
		return nil
	}
	texts := []string{name}
	spec, _ := r.tool(name)
	for _, key := range slices.Sorted(maps.Keys(args)) {
		texts = append(texts, key)
		if what != "env.call" || !authored(spec, key) {
			texts = append(texts, stringsIn(args[key])...)
		}
	}
	for _, text := range texts {
		if bad := r.planted(text); bad != "" {
			return fail(whale.FailPlanted, "%s: an argument holds a %s that neither the model nor the environment wrote", what, bad)
		}
	}
	return nil
}

func authored(spec whale.ToolSpec, key string) bool {
	for _, p := range spec.Parameters {
		if p.Name == key {
			return p.Authored
		}
	}
	return false
}

// planted names the pattern of the first match in a text that is not inside a whole block of the environment; "" = there is none. It takes time
// in proportion to the text and the number of blocks, however many matches there are: a harness chooses the text.
func (r *rules) planted(text string) string {
	folded := plain(text)
	var whole []span // where blocks stand in the text
	found := false
	for _, p := range r.Patterns {
		next, end := 0, 0 // of the spans that begin at a match or before it: how many, and where the last of them ends
		for _, m := range p.Expr.FindAllStringIndex(folded, -1) {
			if !found {
				whole, found = r.occurrences(folded), true
			}
			for ; next < len(whole) && whole[next].start <= m[0]; next++ {
				end = max(end, whole[next].end)
			}
			if m[1] > end {
				return p.Name
			}
		}
	}
	return ""
}

// span is a part of a text, in bytes.
type span struct{ start, end int }

// occurrences finds the blocks in a text, in the order of their beginnings.
func (r *rules) occurrences(text string) []span {
	var out []span
	for block := range r.blocks {
		for at := 0; ; {
			i := strings.Index(text[at:], block)
			if i < 0 {
				break
			}
			out = append(out, span{at + i, at + i + len(block)})
			at += i + len(block)
		}
	}
	slices.SortFunc(out, func(a, b span) int { return a.start - b.start })
	return out
}

// plain takes out what only hides a pattern from an eye that is not human: compatibility forms, accents, and characters that show nothing. Digits
// of other scripts and letters that look like Latin ones become these.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
				return -1
			}
			return r
		case unicode.In(r, unicode.M, unicode.Cf, unicode.Cc, unicode.Co, unicode.Other_Default_Ignorable_Code_Point), r == '\u2800':
			return -1
		case unicode.Is(unicode.Nd, r):
			return '0' + rune(digit(r))
		}
		if latin, ok := lookalikes[r]; ok {
			return latin
		}
		return r
	}, norm.NFKD.String(s))
}

// digit is the value of a decimal digit: Unicode has them in runs of ten from 0 to 9.
func digit(r rune) int {
	n := 0
	for n < 9 && unicode.Is(unicode.Nd, r-1) {
		r, n = r-1, n+1
	}
	return n
}

// lookalikes are letters of other scripts that read as Latin ones, after Unicode's confusables.txt: those of Greek and Cyrillic.
var lookalikes = func() map[rune]rune {
	m := map[rune]rune{}
	from, to := []rune("аАвВсСԁеЕӏһНіІјЈкКмМоОрРԛѕЅтТуУѵԝхХαΑΒεΕΖΗιΙκΚΜνΝοΟρΡΤυΥΧɑɡıƒ"), []rune("aAbBcCdeElhHiIjJkKmMoOpPqsStTyYvwxXaABeEZHiIkKMvNoOpPTuYXagif")
	for i, r := range from {
		m[r] = to[i]
	}
	return m
}()

func specTexts(t whale.ToolSpec) []string {
	out := []string{t.Name, t.Description}
	for _, p := range t.Parameters {
		out = append(out, p.Name, p.Description)
	}
	return out
}

// stringsIn gives the texts in a JSON value, and its numbers.
func stringsIn(raw json.RawMessage) []string {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		return []string{string(raw)}
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				out = append(out, k)
				walk(e)
			}
		}
	}
	walk(v)
	return out
}
