package star

import (
	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
)

// The modules json and math are Starlark's own; the tables here only name their parameters.

func jsonEntries() []entry {
	x := Param{Name: "x", Type: TypeAny, Doc: "None, bool, int, float, string, list or dict with string keys"}
	prefix := Param{Name: "prefix", Type: TypeString, Default: `""`, Doc: "what each new line begins with"}
	indent := Param{Name: "indent", Type: TypeString, Default: `"\t"`, Doc: "one level of indentation"}
	text := Param{Name: "s", Type: TypeString, Doc: "JSON"}
	forward := func(name string, required int) func(c *call) (starlark.Value, error) {
		f := json.Module.Members[name].(*starlark.Builtin)
		return func(c *call) (starlark.Value, error) {
			if s, ok := c.args[0].(starlark.String); ok {
				if err := c.scanned(string(s)); err != nil {
					return nil, err
				}
			}
			var kwargs []starlark.Tuple
			for i, p := range c.f.Params[required:] {
				if v := c.args[required+i]; v != nil {
					kwargs = append(kwargs, starlark.Tuple{starlark.String(p.Name), v})
				}
			}
			return f.CallInternal(c.thread, starlark.Tuple(c.args[:required]), kwargs)
		}
	}
	return []entry{
		{Function: Function{Module: "json", Name: "encode", Returns: TypeString, Doc: "Writes a value as JSON on one line, keys sorted.",
			Params: []Param{x}}, run: forward("encode", 1)},
		{Function: Function{Module: "json", Name: "encode_indent", Returns: TypeString, Doc: "Writes a value as JSON on several lines.",
			Params: []Param{x, prefix, indent}}, run: forward("encode_indent", 1)},
		{Function: Function{Module: "json", Name: "decode", Returns: TypeAny, Doc: "Reads JSON.",
			Params: []Param{text, {Name: "default", Type: TypeAny, Optional: true,
				Doc: "what is returned where s is not JSON; without it that is an error, which ends the episode"}}}, run: forward("decode", 1)},
		{Function: Function{Module: "json", Name: "indent", Returns: TypeString, Doc: "Writes JSON anew on several lines.",
			Params: []Param{text, prefix, indent}}, run: forward("indent", 1)},
	}
}

func mathEntries() []entry {
	x := Param{Name: "x", Type: TypeNumber, Doc: "int or float"}
	y := Param{Name: "y", Type: TypeNumber, Doc: "int or float"}
	table := []struct {
		name, returns, doc string
		params             []Param
	}{
		{"ceil", TypeInt, "The least int that is not below x.", []Param{x}},
		{"floor", TypeInt, "The greatest int that is not above x.", []Param{x}},
		{"round", TypeNumber, "The nearest whole number as a float, halves away from zero.", []Param{x}},
		{"fabs", TypeNumber, "The absolute value as a float.", []Param{x}},
		{"copysign", TypeNumber, "The size of x with the sign of y.", []Param{x, y}},
		{"mod", TypeNumber, "The remainder of x / y with the sign of x.", []Param{x, y}},
		{"remainder", TypeNumber, "The IEEE 754 remainder of x / y.", []Param{x, y}},
		{"pow", TypeNumber, "x to the power y.", []Param{x, y}},
		{"sqrt", TypeNumber, "The square root.", []Param{x}},
		{"exp", TypeNumber, "e to the power x.", []Param{x}},
		{"log", TypeNumber, "The logarithm of x, natural unless a base is given.",
			[]Param{x, {Name: "base", Type: TypeNumber, Optional: true, Doc: "the base"}}},
		{"hypot", TypeNumber, "The square root of x² + y².", []Param{x, y}},
		{"sin", TypeNumber, "The sine of x in radians.", []Param{x}},
		{"cos", TypeNumber, "The cosine of x in radians.", []Param{x}},
		{"tan", TypeNumber, "The tangent of x in radians.", []Param{x}},
		{"asin", TypeNumber, "The arc sine in radians.", []Param{x}},
		{"acos", TypeNumber, "The arc cosine in radians.", []Param{x}},
		{"atan", TypeNumber, "The arc tangent in radians.", []Param{x}},
		{"atan2", TypeNumber, "The angle of the point (second argument, first argument) in radians.", []Param{
			{Name: "y", Type: TypeNumber, Doc: "int or float"}, {Name: "x", Type: TypeNumber, Doc: "int or float"}}},
		{"sinh", TypeNumber, "The hyperbolic sine.", []Param{x}},
		{"cosh", TypeNumber, "The hyperbolic cosine.", []Param{x}},
		{"tanh", TypeNumber, "The hyperbolic tangent.", []Param{x}},
		{"asinh", TypeNumber, "The inverse hyperbolic sine.", []Param{x}},
		{"acosh", TypeNumber, "The inverse hyperbolic cosine.", []Param{x}},
		{"atanh", TypeNumber, "The inverse hyperbolic tangent.", []Param{x}},
		{"degrees", TypeNumber, "Radians to degrees.", []Param{x}},
		{"radians", TypeNumber, "Degrees to radians.", []Param{x}},
		{"gamma", TypeNumber, "The gamma function.", []Param{x}},
	}
	out := make([]entry, len(table))
	for i, t := range table {
		f := math.Module.Members[t.name].(*starlark.Builtin)
		out[i] = entry{
			Function: Function{Module: "math", Name: t.name, Returns: t.returns, Doc: t.doc, Params: t.params},
			run: func(c *call) (starlark.Value, error) {
				args := starlark.Tuple(c.args)
				if args[len(args)-1] == nil { // log without a base
					args = args[:len(args)-1]
				}
				return f.CallInternal(c.thread, args, nil)
			},
		}
	}
	return out
}

// mathConstants are the members of math that are no functions.
func mathConstants() starlark.StringDict {
	return starlark.StringDict{"pi": math.Module.Members["pi"], "e": math.Module.Members["e"]}
}
