package evolve

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.starlark.net/syntax"
)

const (
	maxBundled   = 6   // values of an argument that are tried together with another
	maxFactories = 4   // forms of one factory
	inert        = 0.2 // chance of an argument that seems to do nothing without another one
)

// option is a value for a parameter, as source text.
type option struct {
	text   string
	detail string
	weight float64
}

// argumentEdits adds, removes and swaps arguments of library functions.
func argumentEdits(p *program, lib *catalogue, e *evidence) []mutation {
	var out []mutation
	for i := range p.calls {
		c := &p.calls[i]
		out = append(out, insertions(p, c, lib, e)...)
		out = append(out, removals(p, c)...)
		for j := range c.args {
			out = append(out, swaps(p, c, &c.args[j], lib, e)...)
		}
	}
	return out
}

// insertions gives arguments that are not given yet, alone and in pairs of one axis, a function and a text: a text that asks for
// something is often of use only with a function that looks for it.
func insertions(p *program, c *call, lib *catalogue, e *evidence) []mutation {
	var out []mutation
	missing := missingParams(c)
	for _, q := range missing {
		weight := 1.0
		switch {
		case countsAnother(q, missing):
			continue
		case dependsOnAnother(q, missing):
			weight = inert
		}
		for _, o := range options(q, lib, e, 1) {
			out = append(out, mutation{
				op: opArgument, target: q.Name, detail: o.detail, axis: axisOf(q.Name), weight: o.weight, scale: weight,
				what:  fmt.Sprintf("%s gets %s = %s", c.fn.qualified(), q.Name, o.text),
				edits: []edit{p.insertArgument(c, q.Name+" = "+o.text)},
			})
		}
	}
	for _, q := range missing {
		for _, r := range missing {
			if q.role() != "" && r.Type == "string" && axisOf(q.Name) == axisOf(r.Name) && axisOf(q.Name) != axisOther {
				out = append(out, bundles(p, c, q, r, lib, e)...)
			}
		}
	}
	return out
}

// countsAnother says whether a number bounds how often another parameter, which is missing too, is used: nudges for nudge.
func countsAnother(q *param, missing []*param) bool {
	return q.Type == "int" && slices.ContainsFunc(missing, func(r *param) bool { return q.Name == r.Name+"s" })
}

// dependsOnAnother says whether a parameter's description names another one that is missing.
func dependsOnAnother(q *param, missing []*param) bool {
	return slices.ContainsFunc(missing, func(r *param) bool { return r != q && mentions(q.Doc, r.Name) })
}

func mentions(doc, name string) bool {
	return slices.Contains(strings.FieldsFunc(doc, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }), name)
}

func bundles(p *program, c *call, q, r *param, lib *catalogue, e *evidence) []mutation {
	var out []mutation
	scale := 0.5
	if mentions(q.Doc, r.Name) || mentions(r.Doc, q.Name) {
		scale = 1 // they belong together
	}
	for _, o := range strongest(options(q, lib, e, 1)) {
		for _, u := range strongest(options(r, lib, e, 1)) {
			given := fmt.Sprintf("%s = %s, %s = %s", q.Name, o.text, r.Name, u.text)
			out = append(out, mutation{
				op: opBundle, target: q.Name + "+" + r.Name, detail: strings.TrimSpace(o.detail + " " + u.detail), axis: axisOf(q.Name),
				weight: o.weight * u.weight, scale: scale, what: c.fn.qualified() + " gets " + given,
				edits: []edit{p.insertArgument(c, given)},
			})
		}
	}
	return out
}

func strongest(options []option) []option {
	options = slices.Clone(options)
	slices.SortStableFunc(options, func(a, b option) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	return options[:min(len(options), maxBundled)]
}

func missingParams(c *call) []*param {
	var out []*param
	for i := range c.fn.Params {
		if q := &c.fn.Params[i]; !c.given(q.Name) && !q.required() {
			out = append(out, q)
		}
	}
	return out
}

// removals gives the arguments that a call can do without.
func removals(p *program, c *call) []mutation {
	var out []mutation
	for i, arg := range c.args {
		if !arg.keyword || arg.param == nil || arg.param.required() {
			continue
		}
		out = append(out, mutation{
			op: opWithout, target: arg.param.Name, axis: axisOf(arg.param.Name), weight: 1,
			what:  fmt.Sprintf("%s without %s", c.fn.qualified(), oneLine(p.source[arg.at.start:arg.at.end])),
			edits: []edit{c.removeArgument(i)},
		})
	}
	return out
}

// swaps gives other values for an argument that is a function in a role, or a text. Integers and choices are constants' business.
func swaps(p *program, c *call, arg *argument, lib *catalogue, e *evidence) []mutation {
	if arg.param == nil {
		return nil
	}
	op := opReword
	switch arg.param.Type {
	case "string":
		if _, ok := stringValue(arg.value); !ok || !isPhrase(arg.param) {
			return nil // a name stands for a prompt or for data
		}
	default:
		if arg.param.role() == "" {
			return nil
		}
		op = opPart
	}
	before := p.source[arg.valueAt.start:arg.valueAt.end]
	var out []mutation
	for _, o := range options(arg.param, lib, e, 1) {
		if o.text == before {
			continue
		}
		out = append(out, mutation{
			op: op, target: arg.param.Name, detail: o.detail, axis: axisOf(arg.param.Name), weight: o.weight,
			what:  fmt.Sprintf("%s of %s: %s → %s", arg.param.Name, c.fn.qualified(), oneLine(before), o.text),
			edits: []edit{{arg.valueAt, o.text}},
		})
	}
	return out
}

// isPhrase says whether a text parameter takes words to the model. What stands in pieces of code or data cannot be guessed.
func isPhrase(q *param) bool {
	return slices.ContainsFunc(tokens(q.Name), func(w string) bool {
		return slices.Contains([]string{"nudge", "final", "system", "message", "note", "prompt", "hint", "reminder", "retry", "error"}, w)
	})
}

// options gives values for a parameter. depth is how many factories may stand within each other.
func options(q *param, lib *catalogue, e *evidence, depth int) []option {
	switch {
	case q.Type == "int":
		return slices.DeleteFunc(intOptions(q), func(o option) bool {
			v, err := strconv.ParseInt(o.text, 10, 64)
			return err == nil && !e.leavesRoom(q, v)
		})
	case q.Type == "bool":
		if q.Default == "True" {
			return []option{{"False", "False", 1}}
		}
		return []option{{"True", "True", 1}}
	case q.Type == "choice":
		var out []option
		for _, choice := range q.Choices {
			if unquoted(q.Default) != choice {
				out = append(out, option{quote(choice), choice, 1})
			}
		}
		return out
	case q.Type == "string" && isPhrase(q):
		var out []option
		for _, ph := range phrasesFor(axisOf(q.Name), e) {
			out = append(out, option{quote(ph.text), ph.kind, ph.weight})
		}
		return out
	case q.role() != "" && depth > 0:
		return roleOptions(q, lib, e, depth)
	}
	return nil
}

func unquoted(source string) string {
	if s, err := strconv.Unquote(source); err == nil {
		return s
	}
	return source
}

// intOptions gives integers for a parameter that has bounds. Where there are none, the number means something that cannot be guessed: a
// position, flags.
func intOptions(q *param) []option {
	if q.High == 0 {
		return nil
	}
	var out []option
	add := func(v int64, weight float64) {
		text := itoa(v)
		if v >= 0 && q.allows(v) && text != q.Default && !slices.ContainsFunc(out, func(o option) bool { return o.text == text }) {
			out = append(out, option{text, "", weight})
		}
	}
	if v, err := strconv.ParseInt(q.Default, 10, 64); err == nil {
		for _, s := range intSteps(v, q) {
			add(s.value, s.weight)
		}
	}
	add(q.High/2, 0.6)
	add(q.High/4, 0.6)
	add(q.High/8, 0.4)
	add(max(q.Low, 1), 0.3)
	return out
}

// roleOptions gives library functions that fit a role, and calls of library functions that make one.
func roleOptions(q *param, lib *catalogue, e *evidence, depth int) []option {
	var out []option
	for i := range lib.functions {
		f := &lib.functions[i]
		switch {
		case f.Role != "" && f.Role == q.role():
			out = append(out, option{f.qualified(), f.Name, affinity(f, e)})
		case f.Returns == q.Type:
			out = append(out, factoryCalls(f, lib, e, depth)...)
		}
	}
	return out
}

// factoryCalls writes calls of a function that makes a part, with its required parameters given.
func factoryCalls(f *function, lib *catalogue, e *evidence, depth int) []option {
	calls := []option{{"", f.Name, affinity(f, e)}}
	for i := range f.Params {
		q := &f.Params[i]
		if !q.required() {
			continue
		}
		var next []option
		for _, before := range calls {
			for _, o := range requiredOptions(f, q, lib, e, depth) {
				sep := ""
				if before.text != "" {
					sep = ", "
				}
				next = append(next, option{before.text + sep + q.Name + " = " + o.text, f.Name, before.weight * o.weight})
			}
		}
		calls = strongest(next)
	}
	for i := range calls {
		calls[i].text = f.qualified() + "(" + calls[i].text + ")"
	}
	return calls[:min(len(calls), maxFactories)]
}

// requiredOptions is like options, and knows texts of factories: markers, as a pattern or the name of a tag where that is asked for.
func requiredOptions(f *function, q *param, lib *catalogue, e *evidence, depth int) []option {
	if q.Type != "string" || isPhrase(q) {
		return options(q, lib, e, depth-1)
	}
	words := slices.Concat(tokens(f.Name), tokens(q.Name), strings.Fields(strings.ToLower(q.Doc)))
	var out []option
	for _, m := range e.markers {
		text := m.text
		switch {
		case slices.Contains(words, "pattern") || slices.Contains(words, "regex"):
			text = regexp.QuoteMeta(text)
		case slices.Contains(words, "tag") || slices.Contains(words, "tag's"):
			if !strings.HasPrefix(text, "<") {
				continue
			}
			text = strings.Trim(text, "</>")
		}
		out = append(out, option{quote(text), "", min(m.weight, 1)})
	}
	return out
}

// affinity favours functions whose name or description meets a marker of the task.
func affinity(f *function, e *evidence) float64 {
	best := 0.0
	for _, m := range e.markers {
		text := strings.ToLower(m.text)
		met := strings.Contains(f.Doc, m.text) || strings.Contains(f.Doc, strings.TrimSuffix(m.text, "}"))
		for _, w := range tokens(f.Name) {
			met = met || len(w) >= 3 && w != "has" && strings.Contains(text, w)
		}
		if met {
			best = max(best, m.weight)
		}
	}
	return 0.4 + 2*best
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return s
}

// roleUses gives the program's own functions that it passes in a role.
func (p *program) roleUses() map[string][]*definition {
	out := map[string][]*definition{}
	for i := range p.calls {
		for _, arg := range p.calls[i].args {
			id, ok := arg.value.(*syntax.Ident)
			if !ok || arg.param == nil || arg.param.role() == "" {
				continue
			}
			if d := p.definition(id.Name); d != nil {
				out[arg.param.role()] = append(out[arg.param.role()], d)
			}
		}
	}
	return out
}
