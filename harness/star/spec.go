package star

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	whale "github.com/seed-095d5d2b/whale"
)

// newSpec makes the value for a tool's specification.
func newSpec(t whale.ToolSpec) *record {
	params := make([]starlark.Value, len(t.Parameters))
	for i, p := range t.Parameters {
		params[i] = newRecord("parameter",
			"name", starlark.String(p.Name),
			"type", starlark.String(p.Type),
			"description", starlark.String(p.Description),
			"required", starlark.Bool(p.Required),
			"authored", starlark.Bool(p.Authored),
		)
	}
	return newRecord("tool",
		"name", starlark.String(t.Name),
		"description", starlark.String(t.Description),
		"parameters", starlark.NewList(params),
	)
}

// toolSpec reads what a program gives for a tool: an element of env.tools, or a dict with the same names.
func toolSpec(v starlark.Value) (t whale.ToolSpec, err error) {
	err = eachField(v, "tool", func(key string, v starlark.Value) error {
		switch key {
		case "name":
			return into(&t.Name, v)
		case "description":
			return into(&t.Description, v)
		case "parameters":
			list, ok := v.(*starlark.List)
			if !ok {
				return fmt.Errorf("got %s, want a list", article(v.Type()))
			}
			for i := range list.Len() {
				p, err := parameter(list.Index(i))
				if err != nil {
					return fmt.Errorf("[%d]: %w", i, err)
				}
				t.Parameters = append(t.Parameters, p)
			}
			return nil
		}
		return errors.New("unknown, want name, description or parameters")
	})
	if err == nil && t.Name == "" {
		err = errors.New("name is missing")
	}
	return t, err
}

func parameter(v starlark.Value) (p whale.ToolParameter, err error) {
	err = eachField(v, "parameter", func(key string, v starlark.Value) error {
		switch key {
		case "name":
			return into(&p.Name, v)
		case "type":
			return into(&p.Type, v)
		case "description":
			return into(&p.Description, v)
		case "required":
			return intoBool(&p.Required, v)
		case "authored":
			return intoBool(&p.Authored, v)
		}
		return errors.New("unknown, want name, type, description or required")
	})
	if err != nil {
		return p, err
	}
	if p.Name == "" {
		return p, errors.New("name is missing")
	}
	switch p.Type {
	case "string", "integer", "number", "boolean":
		return p, nil
	}
	return p, fmt.Errorf(`type: got %s, want "string", "integer", "number" or "boolean"`, brief(starlark.String(p.Type)))
}

// eachField calls f with the fields of a record of the given kind, or of a dict.
func eachField(v starlark.Value, kind string, f func(key string, v starlark.Value) error) error {
	call := func(key string, v starlark.Value) error {
		if err := f(key, v); err != nil {
			return fmt.Errorf("%s: %w", brief(starlark.String(key)), err)
		}
		return nil
	}
	switch v := v.(type) {
	case *record:
		if v.kind != kind {
			break
		}
		for _, name := range v.names {
			if err := call(name, v.fields[name]); err != nil {
				return err
			}
		}
		return nil
	case *starlark.Dict:
		for _, item := range v.Items() {
			key, ok := item[0].(starlark.String)
			if !ok {
				return fmt.Errorf("got a dict with %s key, want string keys", article(item[0].Type()))
			}
			if err := call(string(key), item[1]); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("got %s, want a %s as in env.tools, or a dict", article(v.Type()), kind)
}

func into(dst *string, v starlark.Value) error {
	s, ok := v.(starlark.String)
	if !ok {
		return fmt.Errorf("got %s, want a string", article(v.Type()))
	}
	*dst = clean(string(s))
	return nil
}

func intoBool(dst *bool, v starlark.Value) error {
	b, ok := v.(starlark.Bool)
	if !ok {
		return fmt.Errorf("got %s, want a bool", article(v.Type()))
	}
	*dst = bool(b)
	return nil
}
