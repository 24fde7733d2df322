package evolve

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// example is a call that the task's description shows, such as env.render("rules", lines = 3): what it is called with first tells it from
// others of the function, and its keyword arguments with literal values are options and their defaults.
type example struct {
	fn      string // "module.name"
	subject string // the first argument, a text
	options []exampleOption
	text    string // as a program would write it, without options
}

type exampleOption struct {
	name  string
	value syntax.Expr // of the default: a literal, True or False
	text  string
}

// axisShown is what the model is shown of the task.
const axisShown axis = "what is shown"

// maxExamples bounds the examples that are taken from a description.
const maxExamples = 32

var shownCall = regexp.MustCompile(`\b[a-z_]+\.[a-z_]+\([^()\n]{1,200}\)`)

// findExamples reads the calls in a description. An ellipsis stands for an argument that every program chooses by itself.
func findExamples(about string, lib *catalogue) []example {
	if lib == nil {
		return nil
	}
	var out []example
	for _, text := range shownCall.FindAllString(about, -1) {
		node, err := dialect().ParseExpr("description", strings.ReplaceAll(text, "…", "None"), 0)
		if err != nil {
			continue
		}
		x, ok := readExample(node, lib)
		known := slices.ContainsFunc(out, func(o example) bool { return o.fn == x.fn && o.subject == x.subject })
		if ok && !known && len(out) < maxExamples {
			out = append(out, x)
		}
	}
	return out
}

func readExample(node syntax.Expr, lib *catalogue) (example, bool) {
	c, ok := node.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return example{}, false
	}
	dot, ok := c.Fn.(*syntax.DotExpr)
	if !ok {
		return example{}, false
	}
	module, ok := dot.X.(*syntax.Ident)
	if !ok {
		return example{}, false
	}
	x := example{fn: module.Name + "." + dot.Name.Name}
	if x.subject, ok = stringValue(c.Args[0]); !ok || lib.byName[x.fn] == nil {
		return example{}, false
	}
	x.text = fmt.Sprintf("%s(%s)", x.fn, quote(x.subject))
	for _, arg := range c.Args[1:] {
		pair, ok := arg.(*syntax.BinaryExpr)
		if !ok || pair.Op != syntax.EQ {
			return example{}, false
		}
		name, ok := pair.X.(*syntax.Ident)
		if !ok {
			return example{}, false
		}
		if values := otherValues(pair.Y); len(values) > 0 {
			x.options = append(x.options, exampleOption{name.Name, pair.Y, literalText(pair.Y)})
		} else if id, ok := pair.Y.(*syntax.Ident); ok && id.Name == "None" {
			x.text = "" // it needs an argument that is not known here
		}
	}
	return x, true
}

// otherValues gives what may stand in the place of a boolean or an integer.
func otherValues(value syntax.Expr) []option {
	if id, ok := value.(*syntax.Ident); ok {
		switch id.Name {
		case "True":
			return []option{{"False", "False", 1}}
		case "False":
			return []option{{"True", "True", 1}}
		}
	}
	var out []option
	if v, ok := intValue(value); ok {
		for _, s := range intSteps(v, nil) {
			out = append(out, option{itoa(s.value), "", s.weight})
		}
	}
	return out
}

// literalText writes a boolean or an integer as programs do.
func literalText(value syntax.Expr) string {
	if id, ok := value.(*syntax.Ident); ok {
		return id.Name
	}
	v, _ := intValue(value)
	return itoa(v)
}

// exampleEdits edits calls in the way that the description shows: an option more or another value for one, another subject, and for
// functions that give texts a second text after the first.
func exampleEdits(p *program, e *evidence) []mutation {
	examples := e.examples
	var out []mutation
	// Where replies are in order and wrong all the same, the model may lack what the task could tell it.
	scale := 2 + 3*(1-e.unmet)
	for i := range p.calls {
		c := &p.calls[i]
		own := exampleOf(c, examples)
		if own == nil {
			continue
		}
		out = append(out, optionEdits(p, c, own)...)
		if c.fn.Returns != "string" {
			continue // other tools, other arguments
		}
		for j := range examples {
			if x := &examples[j]; x != own && x.fn == own.fn && x.text != "" {
				out = append(out, subjectEdits(p, c, own.subject, x)...)
			}
		}
	}
	for i := range out {
		out[i].scale = scale * out[i].weight
	}
	return out
}

// exampleOf gives the example of what a call calls, or nil.
func exampleOf(c *call, examples []example) *example {
	if len(c.args) == 0 || c.args[0].keyword {
		return nil
	}
	subject, ok := stringValue(c.args[0].value)
	at := slices.IndexFunc(examples, func(x example) bool { return x.fn == c.fn.qualified() && x.subject == subject })
	if !ok || at < 0 {
		return nil
	}
	return &examples[at]
}

// optionEdits gives a call the options of its example.
func optionEdits(p *program, c *call, x *example) []mutation {
	var out []mutation
	for _, o := range x.options {
		value, at := o.value, -1
		for k, arg := range c.args {
			if name, v, ok := keywordOf(c.node.Args[k]); ok && arg.keyword && name == o.name {
				value, at = v, k
			}
		}
		for _, v := range otherValues(value) {
			m := mutation{
				op: opOption, target: o.name, detail: v.detail, axis: axisShown, weight: v.weight,
				what: fmt.Sprintf("%s(%s) with %s = %s", x.fn, quote(x.subject), o.name, v.text),
			}
			if at >= 0 && v.text == o.text {
				m.weight *= 0.1 // back to the default, which somebody has left on purpose
			}
			if at < 0 {
				m.edits = []edit{p.insertArgument(c, o.name+" = "+v.text)}
			} else {
				m.edits = []edit{{c.args[at].valueAt, v.text}}
			}
			out = append(out, m)
		}
	}
	return out
}

func keywordOf(e syntax.Expr) (string, syntax.Expr, bool) {
	pair, ok := e.(*syntax.BinaryExpr)
	if !ok || pair.Op != syntax.EQ {
		return "", nil, false
	}
	id, ok := pair.X.(*syntax.Ident)
	if !ok {
		return "", nil, false
	}
	return id.Name, pair.Y, true
}

// subjectEdits puts another example's text in the place of a call's, or after it.
func subjectEdits(p *program, c *call, subject string, x *example) []mutation {
	out := []mutation{}
	start, end := c.node.Span()
	at := span{p.offset(start), p.offset(end)}
	if own := p.source[at.start:at.end]; own != x.text {
		out = append(out, mutation{
			op: opSubject, target: subject, detail: x.subject, axis: axisShown, weight: 1,
			what: fmt.Sprintf("%s instead of %s", x.text, oneLine(own)), edits: []edit{{at, x.text}},
		}, mutation{
			op: opBeside, target: subject, detail: x.subject, axis: axisShown, weight: 1,
			what: fmt.Sprintf("%s after %s", x.text, oneLine(own)), edits: []edit{{at, fmt.Sprintf(`(%s + "\n" + %s)`, own, x.text)}},
		})
	}
	return out
}
