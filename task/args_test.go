package task

import (
	"encoding/json"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

func searchSpec() whale.ToolSpec {
	return whale.ToolSpec{Name: "search", Parameters: []whale.ToolParameter{
		{Name: "query", Type: "string", Required: true},
		{Name: "top_k", Type: "integer"},
		{Name: "weight", Type: "number"},
		{Name: "exact", Type: "boolean"},
	}}
}

func TestCheckArgs(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"minimal", `{"query": "x"}`, ""},
		{"all", `{"query": "", "top_k": -3, "weight": 2, "exact": false}`, ""},
		{"fraction for number", `{"query": "x", "weight": 2.5e3}`, ""},
		{"missing", `{"top_k": 1}`, `search: missing argument "query", want a value of type string`},
		{"misspelt", `{"qurey": "x"}`, `search: unknown argument "qurey": did you mean "query"? (arguments: query, top_k, weight, exact)`},
		{"case", `{"QUERY": "x"}`, `did you mean "query"?`},
		{"far", `{"query": "x", "zzzzzz": 1}`, `search: unknown argument "zzzzzz" (arguments:`},
		{"null", `{"query": null}`, `got a value of type null, want string`},
		{"number for string", `{"query": 3}`, `got a value of type integer, want string`},
		{"list for string", `{"query": ["x"]}`, `got a value of type list, want string`},
		{"object", `{"query": {}}`, `got a value of type object, want string`},
		{"string for integer", `{"query": "x", "top_k": "3"}`, `argument "top_k": got a value of type string, want integer`},
		{"fraction for integer", `{"query": "x", "top_k": 3.0}`, `got a value of type number, want integer`},
		{"integer for boolean", `{"query": "x", "exact": 1}`, `got a value of type integer, want boolean`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var args map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.args), &args); err != nil {
				t.Fatal(err)
			}
			got := CheckArgs(searchSpec(), args)
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCheckArgsHostile(t *testing.T) {
	long := strings.Repeat("q", 1<<20) + "\n"
	for name, args := range map[string]map[string]json.RawMessage{
		"broken JSON": {"query": json.RawMessage(`"x`)},
		"empty value": {"query": json.RawMessage(``)},
		"nil value":   {"query": nil},
		"long name":   {long: json.RawMessage(`1`)},
		"line break":  {"a\nb": json.RawMessage(`1`)},
	} {
		got := CheckArgs(searchSpec(), args)
		if got == "" || len(got) > 300 || strings.Contains(got, "\n") {
			t.Errorf("%s: got %q, want one short line", name, got)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	tools := []whale.ToolSpec{searchSpec(), {Name: "calculator"}}
	for _, c := range []struct{ name, want string }{
		{"calculater", `unknown tool "calculater": did you mean "calculator"? (tools: search, calculator)`},
		{"python", `unknown tool "python" (tools: search, calculator)`},
		{"", `unknown tool "" (tools: search, calculator)`},
	} {
		if got := UnknownTool(c.name, tools); got != c.want {
			t.Errorf("UnknownTool(%q): got %q, want %q", c.name, got, c.want)
		}
	}
}
