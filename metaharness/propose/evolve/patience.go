package evolve

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// The techniques for programs that correct an agent and for tasks that can show more.
const (
	opDetail   = "detail"   // what the task's description shows and the program leaves off is turned on
	opPatience = "patience" // many more tries after an error
)

// patient is how often a program may ask again that is patient. More would only repeat mistakes.
const patient = 10

// patienceEdits raises the counts of tries after errors, all at once, where tools answer with errors.
func patienceEdits(p *program, e *evidence) []mutation {
	var out []mutation
	for i, times := range []int64{8, 4} {
		var edits []edit
		var names []string
		for j := range p.consts {
			c := &p.consts[j]
			v, ok := intValue(c.value)
			if !ok || v >= patient/2 || axisOf(c.name) != axisRecovery {
				continue
			}
			edits = append(edits, edit{c.at, itoa(min(patient, times*max(v, 1)))})
			names = append(names, c.name)
		}
		if len(edits) == 0 {
			return nil
		}
		what := fmt.Sprintf("%s raised to up to %d", strings.Join(names, ", "), min(patient, times))
		out = append(out, technique(opPatience, itoa(times), axisRecovery, e.toolError/float64(i+1), what, edits...))
	}
	return out
}

// detailEdits turns on the switches that the description shows, at every call that it shows. It bears on replies that are in order and
// wrong all the same: the model may lack what the task could tell it.
func detailEdits(p *program, e *evidence) []mutation {
	var edits []edit
	var names []string
	for i := range p.calls {
		c := &p.calls[i]
		x := exampleOf(c, e.examples)
		if x == nil {
			continue
		}
		for _, o := range x.options {
			if o.text == "False" && !slices.ContainsFunc(c.node.Args, func(a syntax.Expr) bool { name, _, ok := keywordOf(a); return ok && name == o.name }) {
				edits = append(edits, p.insertArgument(c, o.name+" = True"))
				names = append(names, o.name)
			}
		}
	}
	if len(edits) == 0 {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return []mutation{technique(opDetail, strings.Join(names, " "), axisShown, 1-e.unmet, "turned on what the task can show: "+strings.Join(names, ", "), edits...)}
}
