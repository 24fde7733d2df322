package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fields are the top-level fields of a row, as JSON values.
type fields map[string]json.RawMessage

// Row is one row of a file. It stays valid when the reader goes on.
type Row struct {
	file   string
	number int64
	fields fields
}

// At tells where the row is: "data/train.jsonl:row 17".
func (r Row) At() string { return at(r.file, r.number) }

// File is the path of the row's file, as it was opened.
func (r Row) File() string { return r.file }

// Number counts from 1; see the package comment.
func (r Row) Number() int64 { return r.number }

// Names lists the row's top-level fields, sorted.
func (r Row) Names() []string { return slices.Sorted(maps.Keys(r.fields)) }

// JSON gives the value at a path as JSON, and whether there is one; null is none.
func (r Row) JSON(path string) (json.RawMessage, bool) {
	v, err := r.find(path)
	return v, err == nil
}

// Text gives the text at a path: a string, or a number or truth value as it is written. An error names the path, not the row.
func (r Row) Text(path string) (string, error) {
	v, err := r.find(path)
	if err != nil {
		return "", err
	}
	return text(path, v)
}

// Texts gives the texts at a path, which is a list of what Text takes, or one of them. An empty list is an error.
func (r Row) Texts(path string) ([]string, error) {
	v, err := r.find(path)
	if err != nil {
		return nil, err
	}
	if v[0] != '[' {
		s, err := text(path, v)
		return []string{s}, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(v, &list); err != nil {
		return nil, fmt.Errorf("field %q: %w", path, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("field %q: got an empty list, want at least one text", path)
	}
	out := make([]string, len(list))
	for i, v := range list {
		if out[i], err = text(fmt.Sprintf("%s[%d]", path, i), v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func text(path string, v json.RawMessage) (string, error) {
	switch v[0] {
	case '"':
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return "", fmt.Errorf("field %q: %w", path, err)
		}
		return s, nil
	case '[':
		return "", fmt.Errorf("field %q: got a list, want a text; name an element, as %s[0]", path, path)
	case '{':
		return "", fmt.Errorf("field %q: got an object, want a text%s", path, inside(path, v))
	case 'n':
		return "", fmt.Errorf("field %q: got null, want a text", path)
	}
	return string(v), nil
}

// inside suggests the fields of an object.
func inside(path string, v json.RawMessage) string {
	var o fields
	if json.Unmarshal(v, &o) != nil || len(o) == 0 {
		return ""
	}
	return "; name a field, as " + path + "." + clip(slices.Sorted(maps.Keys(o))[0])
}

// find gives the value at a path, compact at its ends.
func (r Row) find(path string) (json.RawMessage, error) {
	v, ok := r.fields[path]
	if !ok {
		parts, err := parsePath(path)
		if err != nil {
			return nil, err
		}
		v, err = descend(r.fields, path, parts)
		if err != nil {
			return nil, err
		}
	}
	if v = bytes.TrimSpace(v); len(v) == 0 || v[0] == 'n' {
		return nil, fmt.Errorf("field %q: got null", path)
	}
	return v, nil
}

func descend(top fields, path string, parts []part) (v json.RawMessage, err error) {
	here := top
	for i, p := range parts {
		if p.name == "" { // an index
			var list []json.RawMessage
			if err := json.Unmarshal(v, &list); err != nil || list == nil {
				return nil, fmt.Errorf("field %q: %s is no list", path, join(parts[:i]))
			}
			if p.index >= len(list) {
				return nil, fmt.Errorf("field %q: %s has %d elements", path, join(parts[:i]), len(list))
			}
			v = list[p.index]
			continue
		}
		if i > 0 {
			here = nil
			if err := json.Unmarshal(v, &here); err != nil || here == nil {
				return nil, fmt.Errorf("field %q: %s is no object", path, join(parts[:i]))
			}
		}
		var ok bool
		if v, ok = here[p.name]; !ok {
			return nil, fmt.Errorf("field %q: not there%s", path, known(here))
		}
	}
	return v, nil
}

// known lists the fields that there are, as far as fits a line.
func known(f fields) string {
	names := slices.Sorted(maps.Keys(f))
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	for i, n := range names {
		if i == 12 {
			fmt.Fprintf(&b, ", … %d more", len(names)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(clip(n))
	}
	return " (fields: " + b.String() + ")"
}

func clip(s string) string {
	s = oneLine(s)
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}
