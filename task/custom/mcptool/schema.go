package mcptool

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	whale "github.com/seed-095d5d2b/whale"
)

// schema is what is read of a JSON schema of arguments.
type schema struct {
	Type        any                        `json:"type"` // a name or a list of names
	Description string                     `json:"description"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
	Enum        []any                      `json:"enum"`
	Const       any                        `json:"const"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	Default     any                        `json:"default"`
}

// Bounds of what a server may say of a tool.
const (
	maxDescription = 8 << 10
	maxParameters  = 32
	maxEnum        = 50
)

var (
	toolName      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)
)

// Spec translates a tool. Parameters are flat: strings, integers, numbers, truth values; an optional null beside one of them is left out. What cannot be expressed is
// refused by name, unless it is an optional argument that omit lists. Required arguments come first, each group in the order of names, since JSON keeps none.
func Spec(t *mcp.Tool, prefix string, omit []string) (whale.ToolSpec, error) {
	spec := whale.ToolSpec{Name: prefix + t.Name, Description: strings.TrimSpace(t.Description), Parameters: []whale.ToolParameter{}}
	bad := func(format string, args ...any) (whale.ToolSpec, error) {
		return spec, fmt.Errorf("tool %s: %s", quote(t.Name), fmt.Sprintf(format, args...))
	}
	if !toolName.MatchString(spec.Name) {
		return bad("want a name of letters, digits, dot, dash and underscore, at most 64 with its prefix")
	}
	if len(spec.Description) > maxDescription {
		return bad("got a description of %d bytes, want at most %d", len(spec.Description), maxDescription)
	}
	s, err := read(t.InputSchema)
	if err != nil {
		return bad("its schema: %v", err)
	}
	if name, _ := s.Type.(string); name != "object" {
		return bad("its arguments are of type %v, want an object", quote(fmt.Sprint(s.Type)))
	}
	for _, name := range omit {
		if _, ok := s.Properties[name]; !ok {
			return bad("omit: it has no argument %s", quote(name))
		}
		if slices.Contains(s.Required, name) {
			return bad("omit: its argument %s is required", quote(name))
		}
	}
	if len(s.Properties) > maxParameters {
		return bad("got %d arguments, want at most %d", len(s.Properties), maxParameters)
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			return bad("requires the argument %s, which it does not describe", quote(name))
		}
	}
	names := slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		if x, y := slices.Contains(s.Required, a), slices.Contains(s.Required, b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		if slices.Contains(omit, name) {
			continue
		}
		p, err := parameter(name, s.Properties[name])
		if err != nil {
			return bad("argument %s: %v; leave the tool out, or the argument if it is optional (omit)", quote(name), err)
		}
		p.Required = slices.Contains(s.Required, name)
		spec.Parameters = append(spec.Parameters, p)
	}
	return spec, nil
}

// parameter translates one argument.
func parameter(name string, raw json.RawMessage) (whale.ToolParameter, error) {
	p := whale.ToolParameter{Name: name}
	if !parameterName.MatchString(name) {
		return p, fmt.Errorf("want a name of letters, digits, dot, dash and underscore, at most 64")
	}
	s, err := read(raw)
	if err != nil {
		return p, err
	}
	p.Description = strings.TrimSpace(s.Description)
	s, err = s.single()
	if err != nil {
		return p, err
	}
	if p.Type, err = s.scalar(); err != nil {
		return p, err
	}
	if d := strings.TrimSpace(s.Description); p.Description == "" {
		p.Description = d
	}
	if len(s.Enum) > 0 {
		if len(s.Enum) > maxEnum {
			return p, fmt.Errorf("got %d values to choose from, want at most %d", len(s.Enum), maxEnum)
		}
		list, err := json.Marshal(s.Enum)
		if err != nil {
			return p, err
		}
		p.Description = strings.TrimSpace(p.Description + " One of " + strings.Trim(string(list), "[]") + ".")
	}
	if len(p.Description) > maxDescription {
		return p, fmt.Errorf("got a description of %d bytes, want at most %d", len(p.Description), maxDescription)
	}
	return p, nil
}

// single takes the one alternative that is not null.
func (s schema) single() (schema, error) {
	list := append(slices.Clone(s.AnyOf), s.OneOf...)
	if len(list) == 0 {
		return s, nil
	}
	var found []schema
	for _, raw := range list {
		alternative, err := read(raw)
		if err != nil {
			return s, err
		}
		if alternative.Type != "null" {
			found = append(found, alternative)
		}
	}
	if len(found) != 1 || len(found[0].AnyOf)+len(found[0].OneOf) > 0 {
		return s, fmt.Errorf("got %d alternatives that are not null, want one", len(found))
	}
	return found[0], nil
}

// scalar is the type of an argument, as a ToolParameter names it.
func (s schema) scalar() (string, error) {
	var types []string
	switch t := s.Type.(type) {
	case string:
		types = []string{t}
	case []any:
		for _, each := range t {
			if name, ok := each.(string); ok && name != "null" {
				types = append(types, name)
			}
		}
	}
	if len(types) == 0 && len(s.Enum) > 0 { // a choice need not say its type
		for _, v := range s.Enum {
			if _, ok := v.(string); !ok {
				return "", fmt.Errorf("got values to choose from that are no texts, and no type")
			}
		}
		return "string", nil
	}
	if len(types) != 1 {
		return "", fmt.Errorf("got %d types, want one of string, integer, number, boolean", len(types))
	}
	switch types[0] {
	case "string", "integer", "number", "boolean":
		return types[0], nil
	}
	return "", fmt.Errorf("got type %s, want string, integer, number or boolean", quote(types[0]))
}

// read takes a schema of the SDK, which is a tree of any, or JSON.
func read(v any) (schema, error) {
	var s schema
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return s, err
		}
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("got a schema that cannot be read: %v", oneLine(err.Error(), 100))
	}
	return s, nil
}

func quote(s string) string { return fmt.Sprintf("%q", oneLine(s, 60)) }

// oneLine makes a text from outside fit for a line of a message.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
