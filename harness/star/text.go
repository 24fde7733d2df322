package star

import (
	"fmt"

	"go.starlark.net/starlark"
)

// scanned charges the steps for reading a text: one for 16 bytes.
func (c *call) scanned(texts ...string) error {
	n := 0
	for _, t := range texts {
		n += len(t)
	}
	return episodeOf(c.thread).charge(n / 16)
}

func textEntries() []entry {
	s := Param{Name: "s", Type: TypeString, Doc: "the text"}
	which := func(def string) Param {
		return Param{
			Name: "which", Type: TypeChoice, Default: fmt.Sprintf("%q", def), Choices: []string{"first", "last"},
			Doc: "which one, where there are several",
		}
	}
	lines := Param{Name: "n", Type: TypeInt, Low: 0, High: 200, Doc: "how many lines"}
	orNone := func(text string, ok bool) starlark.Value {
		if !ok {
			return starlark.None
		}
		return starlark.String(text)
	}
	table := []entry{{
		Function: Function{
			Module: "text", Name: "fence", Returns: "string or None",
			Doc: "Gives the inside of a fenced block (three backticks and the language, … three backticks), without the last newline, or None. The last block may lack its closing fence.",
			Params: []Param{s, {Name: "lang", Type: TypeString, Default: `"python"`, Doc: "the block's language, in any case; \"\" = any block"},
				which("first")},
		},
		run: func(c *call) (starlark.Value, error) {
			return orNone(fence(c.string("s"), c.string("lang"), c.string("which") == "last")), nil
		},
	}, {
		Function: Function{
			Module: "text", Name: "tag", Returns: "string or None",
			Doc:    "Gives what stands between `<name>` and `</name>`, without spaces around it, or None.",
			Params: []Param{s, {Name: "name", Type: TypeString, Doc: "the tag's name"}, which("last")},
		},
		run: func(c *call) (starlark.Value, error) {
			return orNone(tag(c.string("s"), c.string("name"), c.string("which") == "last")), nil
		},
	}, {
		Function: Function{
			Module: "text", Name: "boxed", Returns: "string or None",
			Doc:    "Gives the content of the last `\\boxed{…}` whose braces are balanced, or None.",
			Params: []Param{s},
		},
		run: func(c *call) (starlark.Value, error) { return orNone(boxed(c.string("s"))), nil },
	}, {
		Function: Function{
			Module: "text", Name: "fill", Returns: TypeString,
			Doc: "Replaces `{name}` by the value of that name, and leaves other braces alone.",
			Params: []Param{{Name: "template", Type: TypeString, Doc: "the text with {names}"},
				{Name: "values", Type: TypeAny, Doc: "the task, or a dict with string keys"}},
		},
		run: func(c *call) (starlark.Value, error) {
			out, err := fill(c.string("template"), c.value("values"))
			return starlark.String(out), err
		},
	}, {
		Function: Function{
			Module: "text", Name: "head", Returns: TypeString,
			Doc: "Gives the first n lines.", Params: []Param{s, lines},
		},
		run: func(c *call) (starlark.Value, error) {
			n, _ := c.int("n")
			return starlark.String(head(c.string("s"), n)), nil
		},
	}, {
		Function: Function{
			Module: "text", Name: "tail", Returns: TypeString,
			Doc: "Gives the last n lines.", Params: []Param{s, lines},
		},
		run: func(c *call) (starlark.Value, error) {
			n, _ := c.int("n")
			return starlark.String(tail(c.string("s"), n)), nil
		},
	}, {
		Function: Function{
			Module: "text", Name: "truncate", Returns: TypeString,
			Doc:    "Gives the first max_chars characters.",
			Params: []Param{s, {Name: "max_chars", Type: TypeInt, Low: 0, High: 20000, Doc: "how many characters"}},
		},
		run: func(c *call) (starlark.Value, error) {
			n, _ := c.int("max_chars")
			return starlark.String(truncate(c.string("s"), n)), nil
		},
	}}
	for i := range table { // each of them reads its first argument once
		run := table[i].run
		table[i].run = func(c *call) (starlark.Value, error) {
			if err := c.scanned(string(c.args[0].(starlark.String))); err != nil {
				return nil, err
			}
			return run(c)
		}
	}
	return table
}
