package evolve

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// catalogue is library.json: what a program can call.
type catalogue struct {
	functions []function
	byName    map[string]*function // "module.name"; this package's own ones by their name alone
}

// function is a library function.
type function struct {
	Module  string  `json:"module"`
	Name    string  `json:"name"`
	Doc     string  `json:"doc"`
	Returns string  `json:"returns"`
	Role    string  `json:"role"` // act, observe or done: what it can be passed as
	Params  []param `json:"params"`
}

// qualified is the name as a program writes it. A function that this package writes into programs has no module.
func (f *function) qualified() string {
	if f.Module == "" {
		return f.Name
	}
	return f.Module + "." + f.Name
}

// param is a parameter of a library function.
type param struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`    // int, string, bool, choice, function:<role>, …
	Default  string   `json:"default"` // source text; "" where there is none
	Optional bool     `json:"optional"`
	Choices  []string `json:"choices"`
	Low      int64    `json:"low"` // bounds of an int; a High of 0 means none
	High     int64    `json:"high"`
	Doc      string   `json:"doc"`
}

func (p *param) required() bool { return p.Default == "" && !p.Optional }

// allows says whether an int lies within the catalogue's bounds.
func (p *param) allows(v int64) bool { return p.High == 0 || p.Low <= v && v <= p.High }

// role is the role of the function that the parameter takes, or "".
func (p *param) role() string {
	role, ok := strings.CutPrefix(p.Type, "function:")
	if !ok {
		return ""
	}
	return role
}

func readCatalogue(data []byte) (*catalogue, error) {
	c := &catalogue{byName: map[string]*function{}}
	if err := json.Unmarshal(data, &c.functions); err != nil {
		return nil, fmt.Errorf("library.json: %w", err)
	}
	for i := range c.functions {
		f := &c.functions[i]
		c.byName[f.qualified()] = f
	}
	if run := c.byName["loop.run"]; run != nil {
		own := ownFunctions(run)
		for i := range own {
			c.byName[own[i].qualified()] = &own[i]
		}
	}
	return c, nil
}

// callee gives the function that an expression names, or nil where it is none of the catalogue's.
func (c *catalogue) callee(e syntax.Expr) *function {
	switch x := e.(type) {
	case *syntax.Ident:
		return c.byName[x.Name]
	case *syntax.DotExpr:
		if module, ok := x.X.(*syntax.Ident); ok {
			return c.byName[module.Name+"."+x.Name.Name]
		}
	}
	return nil
}

// find gives the parameter of a name.
func (f *function) find(name string) *param {
	for i := range f.Params {
		if f.Params[i].Name == name {
			return &f.Params[i]
		}
	}
	return nil
}

// tokens splits a name like MAX_TURNS into lower-case words in singular.
func tokens(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '.' })
	for i, w := range words {
		if len(w) > 3 {
			words[i] = strings.TrimSuffix(w, "s")
		}
	}
	return words
}

func itoa(v int64) string { return strconv.FormatInt(v, 10) }

// runParams are the names of run's parameters: the contract hands them over, and they are no modules.
var runParams = []string{"task", "model", "env"}

// moduleNames gives the names that every program can use without defining them.
func (c *catalogue) moduleNames() []string {
	var names []string
	for _, f := range c.functions {
		if !slices.Contains(runParams, f.Module) && !slices.Contains(names, f.Module) {
			names = append(names, f.Module)
		}
	}
	return names
}
