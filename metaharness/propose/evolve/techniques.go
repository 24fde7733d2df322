package evolve

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// The techniques of harness engineering that are written as edits of several places, as they stand in a candidate's operators.
const (
	opBound    = "bound"    // no reply may be longer than good ones are
	opConverse = "converse" // an agent loop of the program's own, which asks again for what is missing
	opRemind   = "remind"   // asking again, in a loop that can
	opInsist   = "insist"   // asking for the tool where an answer comes without it
	opFocus    = "focus"    // the names in a query in place of the whole
	opPresent  = "present"  // of a result, its best paragraphs
	opUncut    = "uncut"    // results are shown whole
	opLookup   = "lookup"   // the tool is asked before the model is
)

// techniqueOrder is the order in which an overhaul applies techniques: what later ones build upon comes first.
var techniqueOrder = []string{opDetail, opPatience, opConverse, opBound, opFocus, opPresent, opUncut, opLookup, opInsist, opRemind}

// techniques lists the techniques that a program does not use yet and that evidence speaks for. The weight of a mutation is how much of
// the failures it bears on, from 0 to about 1, shared among the forms of a technique.
func techniques(p *program, e *evidence) []mutation {
	var out []mutation
	for _, list := range [][]mutation{
		detailEdits(p, e), patienceEdits(p, e), converseEdits(p, e), boundEdits(p, e), remindEdits(p, e), insistEdits(p, e),
		focusEdits(p, e), presentEdits(p, e), uncutEdits(p, e), lookupEdits(p, e),
	} {
		for _, m := range list {
			if m.weight >= minSupport {
				out = append(out, m)
			}
		}
	}
	return out
}

// minSupport is the least share of failures that makes a technique worth a trial.
const minSupport = 0.02

// technique makes a mutation.
func technique(op, detail string, a axis, weight float64, what string, edits ...edit) mutation {
	return mutation{op: op, target: op, detail: detail, axis: a, weight: weight, what: what, edits: edits, scale: 0.3 + 2*weight}
}

// added is an edit that puts definitions at the end of the program.
func (p *program) added(texts ...string) edit {
	end := len(p.source)
	tail := ""
	if !strings.HasSuffix(p.source, "\n") {
		tail = "\n"
	}
	return edit{span{end, end}, tail + "\n" + strings.Join(texts, "\n")}
}

// has says whether a program uses a name in any way.
func (p *program) has(name string) bool {
	return slices.Contains(strings.FieldsFunc(p.source, notOfName), name)
}

func notOfName(r rune) bool {
	return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}

// loopCall gives the first call of loop.run, or of the program's own loop, that passes run's parameters on.
func (p *program) loopCall() *call {
	for i := range p.calls {
		c := &p.calls[i]
		if name := c.fn.qualified(); (name == "loop.run" || name == converseName) && len(c.args) >= 3 && c.passesOn() {
			return c
		}
	}
	return nil
}

// passesOn says whether the first arguments of a call are run's parameters, under their own names.
func (c *call) passesOn() bool {
	for i, name := range runParams {
		if id, ok := c.args[i].value.(*syntax.Ident); !ok || id.Name != name {
			return false
		}
	}
	return true
}

// give sets an argument of a call, whether it is there or not.
func (p *program) give(c *call, name, value string) edit { return p.setArgument(c, name, value) }

// boundEdits caps the length of replies where some run on until a limit: half as long again as most good ones are.
func boundEdits(p *program, e *evidence) []mutation {
	limit := e.replyLimit()
	if limit == 0 {
		return nil
	}
	var edits []edit
	for i := range p.calls {
		c := &p.calls[i]
		name := c.fn.qualified()
		if name != "loop.run" && name != converseName && name != "model.chat" {
			continue
		}
		at := slices.IndexFunc(c.args, func(a argument) bool { return a.param != nil && a.param.Name == "max_tokens" })
		if at < 0 {
			edits = append(edits, p.insertArgument(c, "max_tokens = "+itoa(limit)))
			continue
		}
		if v, ok := intValue(c.args[at].value); ok && (v > 2*limit || v < limit/2) {
			edits = append(edits, edit{c.args[at].valueAt, itoa(limit)})
		}
	}
	if len(edits) == 0 {
		return nil
	}
	return []mutation{technique(opBound, "", axisBrevity, e.length, fmt.Sprintf("replies have at most %d tokens", limit), edits...)}
}

// replyLimit is a bound on replies that leaves good ones room, or 0 where nothing is known of them.
func (e *evidence) replyLimit() int64 {
	if e.replyTokens == 0 {
		return 0
	}
	limit := max(24, (3*e.replyTokens+1)/2)
	return int64((limit + 7) / 8 * 8)
}

// focusEdits lets a lookup search for the names in its query, where queries are whole sentences of the task.
func focusEdits(p *program, e *evidence) []mutation {
	t := e.tool
	if !t.looksUp() || p.has(focusName) {
		return nil
	}
	var edits []edit
	for i := range p.calls {
		c := &p.calls[i]
		if !c.isToolCall(t.name) {
			continue
		}
		for _, arg := range c.args {
			if arg.keyword && arg.name == t.arg {
				text := p.source[arg.valueAt.start:arg.valueAt.end]
				edits = append(edits, edit{arg.valueAt, focusName + "(" + text + ")"})
			}
		}
	}
	if len(edits) == 0 {
		return nil
	}
	edits = append(edits, p.added(focusSource))
	return []mutation{technique(opFocus, "", axisTools, t.whole, "the tool is asked for the names in the "+t.arg, edits...)}
}

// isToolCall says whether a call is env.call of a tool of that name.
func (c *call) isToolCall(tool string) bool {
	if c.fn.qualified() != "env.call" || len(c.args) == 0 {
		return false
	}
	name, ok := stringValue(c.args[0].value)
	return ok && name == tool
}

// counts gives the arguments of a call that are small numbers: how many of something.
func (c *call) counts() []argument {
	var out []argument
	for _, arg := range c.args {
		if v, ok := intValue(arg.value); ok && arg.keyword && arg.param == nil && v >= 1 && v <= 4 {
			out = append(out, arg)
		}
	}
	return out
}

// more asks a lookup for several results where it asks for few.
func (p *program) more(tool string, n int64) []edit {
	var out []edit
	for i := range p.calls {
		if c := &p.calls[i]; c.isToolCall(tool) {
			for _, arg := range c.counts() {
				if v, _ := intValue(arg.value); v < n {
					out = append(out, edit{arg.valueAt, itoa(n)})
				}
			}
		}
	}
	return out
}

// presentEdits shows the best paragraphs of a lookup's result, those that ask something last, out of more than were asked for.
func presentEdits(p *program, e *evidence) []mutation {
	t := e.tool
	c := p.loopCall()
	if !t.looksUp() || c == nil || p.has(presentName) {
		return nil
	}
	var out []mutation
	for _, shown := range []int{1, 2, 3} {
		weight := (0.3*t.clipped + 0.7*t.asking) / float64(shown)
		edits := append([]edit{p.give(c, "observe", presentName)}, p.more(t.name, 4)...)
		edits = append(edits, p.added(fmt.Sprintf(presentSource, shown)))
		out = append(out, technique(opPresent, itoa(int64(shown)), axisTools, weight,
			fmt.Sprintf("of a result the first %d paragraphs are shown whole, those that ask something last", shown), edits...))
	}
	return out
}

// uncutEdits shows results as they are where they are cut.
func uncutEdits(p *program, e *evidence) []mutation {
	c := p.loopCall()
	if e.tool == nil || c == nil || !c.given("observe") || p.has(presentName) {
		return nil
	}
	at := slices.IndexFunc(c.args, func(a argument) bool { return a.param != nil && a.param.Name == "observe" })
	if p.source[c.args[at].valueAt.start:c.args[at].valueAt.end] == "loop.observe" {
		return nil
	}
	return []mutation{technique(opUncut, "", axisTools, e.tool.clipped, "results are shown whole", p.give(c, "observe", "loop.observe"))}
}

// lookupEdits asks the tool before the model is asked, and shows it what came of it below the task.
func lookupEdits(p *program, e *evidence) []mutation {
	t := e.tool
	c := p.loopCall()
	if !t.looksUp() || c == nil || p.has(lookupName) {
		return nil
	}
	before := `"{` + t.field + `}"`
	for _, arg := range c.args {
		if arg.param != nil && arg.param.Name == "user" {
			before = p.source[arg.valueAt.start:arg.valueAt.end]
		}
	}
	var definitions []string
	if !p.has(focusName) {
		definitions = append(definitions, focusSource)
	}
	if !p.has(presentName) {
		definitions = append(definitions, fmt.Sprintf(presentSource, 1))
	}
	count := ""
	for i := range p.calls {
		if p.calls[i].isToolCall(t.name) {
			for _, arg := range p.calls[i].counts() {
				count = ", " + arg.name + " = 4"
			}
		}
	}
	definitions = append(definitions, fmt.Sprintf(lookupSource, t.name, t.arg, t.field, count))
	edits := []edit{p.give(c, "user", fmt.Sprintf(`%s + "\n" + %s(task, env)`, before, lookupName)), p.added(definitions...)}
	for _, arg := range c.args { // to ask for the tool first is done
		if arg.param != nil && arg.param.Name == "first" {
			edits = append(edits, edit{arg.valueAt, `""`})
		}
	}
	return []mutation{technique(opLookup, "", axisTools, min(1, 0.5*t.quoting+max(0, e.noToolLift)), "the tool is asked about the "+t.field+" before the model is", edits...)}
}
