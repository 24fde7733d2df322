package evolve

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"
)

// maxInt bounds integers that have no bounds in the catalogue.
const maxInt = 1 << 20

// maxTurns bounds counts of turns and tries: limits end an episode long before.
const maxTurns = 32

// constantEdits edits the integers, choices and booleans of top-level constants and of arguments of library functions.
func constantEdits(p *program, e *evidence) []mutation {
	var out []mutation
	for i := range p.consts {
		c := &p.consts[i]
		link := p.linkOf(c.name)
		a := axisOf(c.name)
		if a == axisOther && link != nil {
			a = axisOf(link.Name)
		}
		out = append(out, literalEdits(c.value, c.at, c.name, a, link, e)...)
	}
	for i := range p.calls {
		c := &p.calls[i]
		for _, arg := range c.args {
			_, number := intValue(arg.value)
			switch q := arg.param; {
			case q == nil && number && arg.keyword && c.fn.qualified() == "env.call": // how many of something a tool gives
				out = append(out, literalEdits(arg.value, arg.valueAt, arg.name, axisTools, nil, e)...)
			case q == nil || number && q.High == 0: // without bounds a number means something that cannot be guessed: a position, flags
			case arg.keyword || q.Type != "any":
				out = append(out, literalEdits(arg.value, arg.valueAt, q.Name, axisOf(q.Name), q, e)...)
			}
		}
	}
	return out
}

// linkOf gives the parameter that a constant is passed for, or nil.
func (p *program) linkOf(name string) *param {
	for i := range p.calls {
		for _, arg := range p.calls[i].args {
			if id, ok := arg.value.(*syntax.Ident); ok && id.Name == name && arg.param != nil {
				return arg.param
			}
		}
	}
	return nil
}

func literalEdits(value syntax.Expr, at span, name string, a axis, link *param, e *evidence) []mutation {
	var out []mutation
	change := func(op, detail, from, to string, weight float64) {
		out = append(out, mutation{
			op: op, target: name, detail: detail, axis: a, weight: weight,
			what: fmt.Sprintf("%s %s → %s", name, from, to), edits: []edit{{at, to}},
		})
	}
	if v, ok := intValue(value); ok {
		for _, next := range intSteps(v, link) {
			if link != nil && !e.leavesRoom(link, next.value) || next.value > max(v, maxTurns) && (a == axisTurns || a == axisRecovery) {
				continue
			}
			detail, weight := "up", next.weight
			if next.value < v {
				detail = "down"
			}
			if a == axisTurns && e.outOfTurns+e.atLimit > 0 || a == axisRecovery && e.toolError > 0.1 {
				weight *= direction(detail, "up")
			}
			change(opConstant, detail, itoa(v), itoa(next.value), weight)
		}
	}
	if s, ok := stringValue(value); ok && link != nil && link.Type == "choice" {
		for _, choice := range link.Choices {
			if choice != s {
				change(opChoice, choice, quote(s), quote(choice), 1)
			}
		}
	}
	if id, ok := value.(*syntax.Ident); ok && (id.Name == "True" || id.Name == "False") {
		to := "True"
		if id.Name == to {
			to = "False"
		}
		change(opBoolean, to, id.Name, to, 1)
	}
	return out
}

func direction(detail, wanted string) float64 {
	if detail == wanted {
		return 1
	}
	return 0.1
}

// leavesRoom says whether a bound on replies is one: not below what good replies need, and not far above it.
func (e *evidence) leavesRoom(q *param, v int64) bool {
	limit := e.replyLimit()
	return q.Name != "max_tokens" || limit == 0 || v >= int64(e.replyTokens) && v <= 4*limit
}

type intStep struct {
	value  int64
	weight float64
}

// intSteps gives values near v within the catalogue's bounds: twice and half of it first, for a step of 1 is seldom seen in a score,
// then four times as much, its neighbours and the middle of the way to the upper bound.
func intSteps(v int64, link *param) []intStep {
	steps := []intStep{{2 * v, 1}, {v / 2, 0.6}, {4 * v, 0.5}, {v + 1, 0.45}, {v - 1, 0.35}}
	low, high := min(1, v), int64(maxInt) // none of what was some is an edit of another kind
	if link != nil && link.High > 0 {
		low, high = link.Low, link.High
		steps = append(steps, intStep{(v + high) / 2, 0.25})
	}
	var out []intStep
	for _, s := range steps {
		known := slices.ContainsFunc(out, func(o intStep) bool { return o.value == s.value })
		if s.value != v && s.value >= low && s.value <= high && !known {
			out = append(out, s)
		}
	}
	return out
}
