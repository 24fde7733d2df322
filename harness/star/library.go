package star

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// The types of parameters and of what functions return, as the catalogue writes them. A function type names the role of the function.
const (
	TypeAny      = "any"
	TypeBool     = "bool"
	TypeChoice   = "choice"
	TypeDict     = "dict"
	TypeFunction = "function"
	TypeInt      = "int"
	TypeList     = "list"
	TypeNumber   = "number" // int or float
	TypeString   = "string"
	TypeAct      = "function:act"
	TypeObserve  = "function:observe"
	TypeDone     = "function:done"
)

// The roles that a function may fill in [loop.run], and the shape of each.
const (
	RoleAct     = "act"     // act(reply, env) → None, or a result, or a list of results
	RoleObserve = "observe" // observe(result) → the text that the model is shown
	RoleDone    = "done"    // done(reply) → whether the reply is a final answer
)

// Param is one parameter of a library function.
type Param struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Default  string   `json:"default,omitempty"` // Starlark source of the default; "" = required
	Optional bool     `json:"optional,omitempty"`
	Choices  []string `json:"choices,omitempty"` // for type choice
	Low      int      `json:"low,omitempty"`     // for type int: the least value, where High is set too
	High     int      `json:"high,omitempty"`    // for type int: a sensible greatest value; 0 = no bounds
	Doc      string   `json:"doc"`
}

// Function is one function of the library.
type Function struct {
	Module   string  `json:"module"` // re, json, math, text, chat, loop, model or env
	Name     string  `json:"name"`
	Doc      string  `json:"doc"`
	Returns  string  `json:"returns"`
	Role     string  `json:"role,omitempty"` // the function itself fits this role
	Params   []Param `json:"params"`
	Keywords string  `json:"keywords,omitempty"` // the name of **keywords, where any are taken
}

// FullName is the name as a program writes it.
func (f *Function) FullName() string { return f.Module + "." + f.Name }

// entry is a function of the library with what runs it.
type entry struct {
	Function
	run func(c *call) (starlark.Value, error)
}

// Library lists every function that a program can call, by module and name: the modules, the methods of model and those of env.
func Library() []Function {
	var out []Function
	for _, e := range entries() {
		out = append(out, e.Function)
	}
	out = append(out, loopFunctions()...)
	slices.SortFunc(out, func(a, b Function) int { return strings.Compare(a.FullName(), b.FullName()) })
	return out
}

// entries are the functions that are written in Go.
func entries() []entry {
	return slices.Concat(modelEntries(), envEntries(), textEntries(), chatEntries(), reEntries(), jsonEntries(), mathEntries())
}

// moduleDocs says in a line what each module is for.
var moduleDocs = map[string]string{
	"re":   "regular expressions with the semantics of Python's re, without lookaround and backreferences",
	"json": "JSON to and from values",
	"math": "numbers",
	"text": "cutting what is wanted out of a text",
	"chat": "builders of messages",
	"loop": "a ready agent loop, and its parts",
}

// library is what a program finds: the modules, and the functions of run's parameters model and env. Everything in it is frozen.
type library struct {
	modules starlark.StringDict
	model   *module
	env     starlark.StringDict
}

// newLibrary builds the library.
func newLibrary() (*library, error) {
	members := map[string]starlark.StringDict{
		"re": reConstants(), "json": {}, "math": mathConstants(), "text": {}, "chat": {}, "model": {}, "env": {},
	}
	for _, e := range entries() {
		members[e.Module][e.Name] = e.builtin()
	}
	lib := &library{modules: starlark.StringDict{}, model: newModule("model", members["model"]), env: members["env"]}
	for name := range moduleDocs {
		if m, ok := members[name]; ok {
			lib.modules[name] = newModule(name, m)
		}
	}
	loop, err := loadLoop(lib.modules)
	if err != nil {
		return nil, err
	}
	lib.modules["loop"] = loop
	lib.modules.Freeze()
	lib.model.Freeze()
	lib.env.Freeze()
	return lib, nil
}
