package evolve

import (
	"fmt"
	"slices"
	"strings"
)

// ownFunctions describes the functions of this package's templates in the catalogue's terms, so that their calls can be edited further.
func ownFunctions(run *function) []function {
	f := function{Name: converseName, Returns: run.Returns}
	for _, q := range run.Params {
		f.Params = append(f.Params, q)
		switch q.Name {
		case "turns":
			f.Params[len(f.Params)-1].Default = "8"
		case "nudges":
			f.Params[len(f.Params)-1].Default = "4"
			f.Params = append(f.Params, param{Name: "first", Type: "string", Default: `""`, Doc: "what the model is told where it has called no tool; \"\" = nothing"})
		}
	}
	return []function{f}
}

// converseEdits puts the program's own loop in the place of loop.run: with more turns, a test whether a reply is done, and reminders of what
// it lacks.
func converseEdits(p *program, e *evidence) []mutation {
	c := p.loopCall()
	if c == nil || c.fn.qualified() != "loop.run" || p.has(converseName) {
		return nil
	}
	fn := p.spanOf(c.node.Fn)
	var out []mutation
	for _, turns := range []int64{8, 6} {
		edits := append([]edit{{fn, converseName}, p.added(converseSource)}, p.moreTurns(c, turns)...)
		what := fmt.Sprintf("a loop of %d turns that asks again", turns)
		given := p.reminders(c, e, 0)
		if e.noTool > 0.1 && !c.given("first") {
			given = append(given, "first = "+quote(toolRequest(p, e)))
		}
		edits = append(edits, p.insertArguments(c, given)...)
		weight := (e.unmet + e.outOfTurns + 0.5*e.length + max(0, e.noToolLift)) / 2
		out = append(out, technique(opConverse, itoa(turns), axisFormat, min(1, weight)*float64(turns)/8, what, edits...))
	}
	return out
}

// insertArguments adds keyword arguments in one edit.
func (p *program) insertArguments(c *call, given []string) []edit {
	if len(given) == 0 {
		return nil
	}
	return []edit{p.insertArgument(c, strings.Join(given, ", "))}
}

// moreTurns raises the number of turns, wherever it is written.
func (p *program) moreTurns(c *call, turns int64) []edit {
	for _, arg := range c.args {
		if arg.param == nil || arg.param.Name != "turns" {
			continue
		}
		if v, ok := intValue(arg.value); ok {
			if v < turns {
				return []edit{{arg.valueAt, itoa(turns)}}
			}
			return nil
		}
		for i := range p.consts {
			k := &p.consts[i]
			if v, ok := intValue(k.value); ok && k.name == p.source[arg.valueAt.start:arg.valueAt.end] && v < turns {
				return []edit{{k.at, itoa(turns)}}
			}
		}
		return nil
	}
	return []edit{p.insertArgument(c, "turns = "+itoa(turns))}
}

// reminders are the arguments that make a loop ask again for the answer's form, of those that the call lacks: what a reply must have, the words,
// and how often. form chooses among the words.
func (p *program) reminders(c *call, e *evidence, form int) []string {
	m := e.answerMarker()
	if m == "" {
		return nil
	}
	var out []string
	if !c.given("done") {
		out = append(out, "done = "+doneFor(m, p.lib))
	}
	if !c.given("nudge") {
		forms := answerRequests(p, m)
		out = append(out, "nudge = "+quote(forms[form%len(forms)]))
	}
	if c.fn.qualified() == "loop.run" && !c.given("nudges") {
		out = append(out, "nudges = 4")
	}
	return out
}

// answerMarker is the mark-up that an answer must have: a tag or a command that reasons or the task's description name; "" where there is none.
func (e *evidence) answerMarker() string {
	for _, m := range e.markers { // the heaviest first
		if strings.HasPrefix(m.text, "</") {
			continue
		}
		if strings.HasPrefix(m.text, "<") || strings.HasPrefix(m.text, `\`) {
			return m.text
		}
	}
	return ""
}

// doneFor writes a test for a marker: a function of the library that is there for it, one that is made with the name of a tag, or a plain test.
func doneFor(marker string, lib *catalogue) string {
	for i := range lib.functions {
		f := &lib.functions[i]
		switch {
		case f.Role == roleDone && strings.Contains(f.Doc, strings.TrimSuffix(marker, "}")):
			return f.qualified()
		case f.Returns == "function:"+roleDone && strings.HasPrefix(marker, "<") && len(f.Params) == 1 && strings.Contains(f.Params[0].Doc, "tag"):
			return f.qualified() + "(" + quote(strings.Trim(marker, "</>")) + ")"
		}
	}
	return "lambda reply: " + quote(strings.TrimSuffix(marker, "{}")) + " in reply.text"
}

// roleDone is the role of functions that say whether a reply is done.
const roleDone = "done"

// answerRequests are ways to ask for the answer: the sentence in which the program's prompts ask for it, and others.
func answerRequests(p *program, marker string) []string {
	var out []string
	for _, s := range p.told() {
		if strings.Contains(s, strings.TrimSuffix(marker, "{}")) {
			out = append(out, s)
		}
	}
	form := marker
	if strings.HasPrefix(marker, "<") {
		form += "</" + strings.Trim(marker, "<>") + ">"
	}
	for _, s := range []string{"Put the answer in " + form + ".", "There is no " + marker + " in your reply.", "Give the final answer in " + form + "."} {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// toolRequest asks for the tool: the sentence in which the program's prompts speak of it, else a plain one.
func toolRequest(p *program, e *evidence) string {
	if e.tool != nil {
		for _, s := range p.told() {
			if strings.Contains(strings.ToLower(s), strings.ToLower(e.tool.name)) {
				return s
			}
		}
	}
	return "Use the tool first."
}

// told are the sentences of the program's prompts that hold no placeholder.
func (p *program) told() []string {
	var out []string
	for _, name := range promptNames {
		c := p.constant(name)
		if c == nil {
			continue
		}
		text, ok := stringValue(c.value)
		if !ok {
			continue
		}
		for _, s := range sentences(text) {
			if s = strings.TrimSpace(s); s != "" && !placeholder.MatchString(s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// remindEdits lets a loop ask again for the answer's form, or ask in other words.
func remindEdits(p *program, e *evidence) []mutation {
	c := p.loopCall()
	m := e.answerMarker()
	if c == nil || m == "" {
		return nil
	}
	var out []mutation
	if given := p.reminders(c, e, 0); len(given) > 0 {
		for form := range answerRequests(p, m) {
			given := p.reminders(c, e, form)
			if form > 0 && c.given("nudge") {
				break
			}
			out = append(out, technique(opRemind, itoa(int64(form)), axisFormat, (0.2+e.unmet)/float64(1+form),
				c.fn.qualified()+" asks again: "+strings.Join(given, ", "), p.insertArguments(c, given)...))
		}
	}
	return out
}

// insistEdits lets a loop that can ask for the tool where an answer comes without it.
func insistEdits(p *program, e *evidence) []mutation {
	c := p.loopCall()
	if c == nil || c.fn.qualified() != converseName || c.given("first") || p.has(lookupName) {
		return nil
	}
	words := toolRequest(p, e)
	return []mutation{technique(opInsist, "", axisTools, e.noTool, fmt.Sprintf("%s asks for the tool: %q", converseName, words),
		p.insertArgument(c, "first = "+quote(words)))}
}
