package mcptool

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	whale "github.com/seed-095d5d2b/whale"
)

func tool(schema string) *mcp.Tool {
	return &mcp.Tool{Name: "find", Description: " Finds. ", InputSchema: json.RawMessage(schema)}
}

func TestSpec(t *testing.T) {
	got, err := Spec(tool(`{"type": "object", "required": ["query"], "properties": {
		"limit": {"type": "integer", "description": "how many", "default": 5},
		"query": {"type": "string"},
		"exact": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "description": "to the letter"},
		"order": {"enum": ["up", "down"], "description": "which way."},
		"near": {"type": ["number", "null"]}}}`), "x_", nil)
	want := whale.ToolSpec{Name: "x_find", Description: "Finds.", Parameters: []whale.ToolParameter{
		{Name: "query", Type: "string", Required: true},
		{Name: "exact", Type: "boolean", Description: "to the letter"},
		{Name: "limit", Type: "integer", Description: "how many"},
		{Name: "near", Type: "number"},
		{Name: "order", Type: "string", Description: `which way. One of "up","down".`},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v (%v)\nwant %+v", got, err, want)
	}
}

// What flat parameters cannot say is refused, with the tool's and the argument's names.
func TestSpecRefusals(t *testing.T) {
	for _, tc := range []struct{ schema, want string }{
		{`{"type": "object", "properties": {"a": {"type": "array"}}}`, `tool "find": argument "a": got type "array"`},
		{`{"type": "object", "properties": {"a": {"type": "object"}}}`, `argument "a": got type "object"`},
		{`{"type": "object", "properties": {"a": {}}}`, `argument "a": got 0 types`},
		{`{"type": "object", "properties": {"a": true}}`, `argument "a": got a schema that cannot be read`},
		{`{"type": "object", "properties": {"a": {"$ref": "#/x"}}}`, `argument "a": got 0 types`},
		{`{"type": "object", "properties": {"a": {"type": ["string", "integer"]}}}`, `argument "a": got 2 types`},
		{`{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}`, `argument "a": got 2 alternatives`},
		{`{"type": "object", "properties": {"a": {"anyOf": [{"anyOf": [{"type": "string"}]}]}}}`, `argument "a": got 1 alternatives`},
		{`{"type": "object", "properties": {"a": {"enum": [1, 2]}}}`, `argument "a": got values to choose from`},
		{`{"type": "object", "properties": {"a b": {"type": "string"}}}`, `argument "a b": want a name`},
		{`{"type": "object", "required": ["b"]}`, `requires the argument "b"`},
		{`{"type": "array"}`, `its arguments are of type "array"`},
		{`[]`, "its schema"},
		{`{"type": "object", "properties": 3}`, "its schema"},
		{`{"type": "object", "properties": {"a": {"type": "string", "description": "` + strings.Repeat("x", 9000) + `"}}}`, "a description of 9000 bytes"},
	} {
		if _, err := Spec(tool(tc.schema), "", nil); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.80s: got %v, want %s", tc.schema, err, tc.want)
		}
	}
	if _, err := Spec(&mcp.Tool{Name: "a b", InputSchema: json.RawMessage(`{"type": "object"}`)}, "", nil); err == nil {
		t.Error("a name with a space: got no error")
	}
}

// Whatever a server sends as a schema gives a spec whose parameters are flat, or an error of one line.
func FuzzSpec(f *testing.F) {
	f.Add(`{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}`)
	f.Add(`{"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "integer"}]}}}`)
	f.Add(`{"type": ["object"], "properties": null}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		spec, err := Spec(tool(schema), "", nil)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("got an error of several lines: %q", err)
			}
			return
		}
		for _, p := range spec.Parameters {
			switch p.Type {
			case "string", "integer", "number", "boolean":
			default:
				t.Errorf("got the type %q", p.Type)
			}
		}
	})
}
