package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// UnknownTool gives the error text for a tool name that is not among the tools: what there is, and what may have been meant.
func UnknownTool(name string, tools []whale.ToolSpec) string {
	known := make([]string, 0, len(tools))
	for _, t := range tools {
		known = append(known, t.Name)
	}
	return fmt.Sprintf("unknown tool %s%s (tools: %s)", quote(name), suggestion(name, known), strings.Join(known, ", "))
}

// CheckArgs compares the arguments of a call with the tool's parameters. It gives "" where they fit, else one line of error text
// for the caller: an argument that is missing, unknown or of another type is the caller's mistake.
func CheckArgs(spec whale.ToolSpec, args map[string]json.RawMessage) string {
	known := make([]string, 0, len(spec.Parameters))
	for _, p := range spec.Parameters {
		known = append(known, p.Name)
	}
	// Unknown names first: a misspelt argument is then reported as such, with its suggestion, and not as a missing one.
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(known, name) {
			return fmt.Sprintf("%s: unknown argument %s%s (arguments: %s)", spec.Name, quote(name), suggestion(name, known), strings.Join(known, ", "))
		}
	}
	for _, p := range spec.Parameters {
		value, ok := args[p.Name]
		if !ok {
			if p.Required {
				return fmt.Sprintf("%s: missing argument %q, want a value of type %s", spec.Name, p.Name, p.Type)
			}
			continue
		}
		if got := jsonType(value); got != p.Type && (got != "integer" || p.Type != "number") {
			return fmt.Sprintf("%s: argument %q: got a value of type %s, want %s", spec.Name, p.Name, got, p.Type)
		}
	}
	return ""
}

// jsonType names the type of a JSON value as [whale.ToolParameter] does. A number written with a fraction or an exponent is no integer.
func jsonType(v json.RawMessage) string {
	v = bytes.TrimSpace(v)
	if !json.Valid(v) {
		return "invalid JSON"
	}
	switch v[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	case '[':
		return "list"
	case '{':
		return "object"
	}
	if bytes.ContainsAny(v, ".eE") {
		return "number"
	}
	return "integer"
}

// quoteBytes bounds how much of a caller's text an error repeats.
const quoteBytes = 40

func quote(s string) string {
	if len(s) > quoteBytes {
		s = strings.ToValidUTF8(s[:quoteBytes], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}

// suggestion is ": did you mean …?" where one of the known names is within two edits, or differs in case alone.
func suggestion(name string, known []string) string {
	best, least := "", 3
	if len(name) > quoteBytes {
		return ""
	}
	for _, k := range known {
		d := edits(strings.ToLower(name), strings.ToLower(k))
		if d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best == "" && len(known) == 1 {
		best = known[0] // there is only one that can be meant
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", best)
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
