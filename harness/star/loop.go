package star

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

//go:embed loop.star
var loopSource string

// loopFile is the name that the module's positions bear; they do not reach a message, for the program's own position is shown.
const loopFile = "library/loop.star"

// loadLoop executes loop.star, which is part of this package, over the other modules. Its functions' steps count in the episode.
func loadLoop(library starlark.StringDict) (*module, error) {
	thread := &starlark.Thread{Name: loopFile}
	globals, err := starlark.ExecFileOptions(options(), thread, loopFile, loopSource, library)
	if err != nil {
		return nil, err
	}
	members := starlark.StringDict{}
	for _, f := range loopFunctions() {
		members[f.Name] = checked(f, globals[f.Name].(starlark.Callable))
	}
	return newModule("loop", members), nil
}

// checked wraps a function of loop.star so that its arguments are checked by its table like those of every other function.
func checked(f Function, fn starlark.Callable) *starlark.Builtin {
	table := f
	table.Params = slices.Clone(f.Params)
	for i := range table.Params {
		p := &table.Params[i]
		p.Optional = p.Default != ""
	}
	return entry{Function: table, run: func(c *call) (starlark.Value, error) {
		var kwargs []starlark.Tuple
		for i, p := range c.f.Params {
			if v := c.args[i]; v != nil {
				kwargs = append(kwargs, starlark.Tuple{starlark.String(p.Name), v})
			}
		}
		return starlark.Call(c.thread, fn, nil, kwargs)
	}}.builtin()
}

// loopFunctions reads the table of the module loop from the signatures and docstrings of its source, so that there is one copy. A
// docstring that lacks a parameter, or names one too many, is a defect and panics; a test calls this.
func loopFunctions() []Function {
	file, err := options().Parse(loopFile, loopSource, 0)
	if err != nil {
		panic("star: " + err.Error())
	}
	var out []Function
	for _, stmt := range file.Stmts {
		def, ok := stmt.(*syntax.DefStmt)
		if !ok {
			continue
		}
		f, err := documented(def)
		if err != nil {
			panic(fmt.Sprintf("star: %s: %s: %v", loopFile, def.Name.Name, err))
		}
		out = append(out, f)
	}
	return out
}

var argLine = regexp.MustCompile(`^(\w+) \(([^ )]+)(?: ([^)]*))?\): (.+)$`)

// documented reads one function: a docstring of a description, "Args:", a line for each parameter "name (type bounds): words",
// "Returns: type" and perhaps "Role: role".
func documented(def *syntax.DefStmt) (Function, error) {
	f := Function{Module: "loop", Name: def.Name.Name}
	doc, ok := docstring(def)
	if !ok {
		return f, fmt.Errorf("no docstring")
	}
	about, rest, ok := strings.Cut(doc, "Args:")
	if !ok {
		return f, fmt.Errorf("no Args in the docstring")
	}
	f.Doc = strings.Join(strings.Fields(about), " ")
	docs := map[string]Param{}
	for line := range strings.SplitSeq(rest, "\n") {
		line = strings.TrimSpace(line)
		if r, ok := strings.CutPrefix(line, "Returns: "); ok {
			f.Returns = r
		} else if r, ok := strings.CutPrefix(line, "Role: "); ok {
			f.Role = r
		} else if m := argLine.FindStringSubmatch(line); m != nil {
			p := Param{Name: m[1], Type: m[2], Doc: m[4]}
			if err := p.setBounds(m[3]); err != nil {
				return f, err
			}
			docs[p.Name] = p
		} else if line != "" {
			return f, fmt.Errorf("docstring: cannot read the line %q", line)
		}
	}
	for _, e := range def.Params {
		name, def := "", ""
		switch e := e.(type) {
		case *syntax.Ident:
			name = e.Name
		case *syntax.BinaryExpr:
			name, def = e.X.(*syntax.Ident).Name, defaultSource(e.Y)
		}
		p, ok := docs[name]
		if !ok {
			return f, fmt.Errorf("parameter %s is not in the docstring", name)
		}
		p.Default = def
		f.Params = append(f.Params, p)
		delete(docs, name)
	}
	for name := range docs {
		return f, fmt.Errorf("the docstring has a parameter %s too many", name)
	}
	return f, nil
}

// setBounds reads "1..32" of an int or "first|last" of a choice.
func (p *Param) setBounds(s string) (err error) {
	switch {
	case p.Type == TypeChoice:
		p.Choices = strings.Split(s, "|")
	case s != "":
		low, high, _ := strings.Cut(s, "..")
		if p.Low, err = strconv.Atoi(low); err == nil {
			p.High, err = strconv.Atoi(high)
		}
	}
	return err
}

func docstring(def *syntax.DefStmt) (string, bool) {
	stmt, ok := def.Body[0].(*syntax.ExprStmt)
	if !ok {
		return "", false
	}
	lit, ok := stmt.X.(*syntax.Literal)
	if !ok || lit.Token != syntax.STRING {
		return "", false
	}
	return lit.Value.(string), true
}

// defaultSource writes a default as a program would: a literal, an empty list, or a part of the loop by its full name.
func defaultSource(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Literal:
		return e.Raw
	case *syntax.ListExpr:
		return "[]"
	case *syntax.Ident:
		if e.Name == "None" || e.Name == "True" || e.Name == "False" {
			return e.Name
		}
		return "loop." + e.Name
	}
	return "?"
}
