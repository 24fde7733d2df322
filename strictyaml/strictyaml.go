// Package strictyaml reads configuration: unknown keys, duplicate keys and wrong types are errors of one line that name the file, the
// line and column, and the nearest key that exists.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
)

// maxBytes bounds a configuration file.
const maxBytes = 1 << 20

// Decode reads one YAML document into v, a pointer to a struct with yaml tags. Fields that the document does not set keep their values,
// so v holds the defaults.
func Decode(name string, data []byte, v any) error {
	if len(data) > maxBytes {
		return fmt.Errorf("%s: got %d bytes, want at most %d", name, len(data), maxBytes)
	}
	var tree any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return explain(name, err, v)
	}
	if tree == nil {
		return nil // an empty document changes nothing
	}
	if key := nullKey("", tree); key != "" {
		return fmt.Errorf("%s: %s: got nothing, want a value; leave the key out for its default", name, key)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := dec.Decode(v); err != nil {
		return explain(name, err, v)
	}
	var more any
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: got a second YAML document, want one", name)
	}
	return nil
}

// nullKey finds a key without a value: decoding it would wipe the defaults below it.
func nullKey(path string, tree any) string {
	m, ok := tree.(map[string]any)
	if !ok {
		return ""
	}
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	sort.Strings(names)
	for _, k := range names {
		full := strings.TrimPrefix(path+"."+k, ".")
		if m[k] == nil {
			return full
		}
		if found := nullKey(full, m[k]); found != "" {
			return found
		}
	}
	return ""
}

var unknownKey = regexp.MustCompile(`unknown field "([^"]*)"`)

// explain makes one line of a decoder's error.
func explain(name string, err error, v any) error {
	where := name
	message := err.Error()
	var ye yaml.Error
	if errors.As(err, &ye) {
		message = ye.GetMessage()
		if t := ye.GetToken(); t != nil && t.Position != nil {
			where = fmt.Sprintf("%s:%d:%d", name, t.Position.Line, t.Position.Column)
		}
	}
	if i := strings.IndexByte(message, '\n'); i >= 0 {
		message = message[:i]
	}
	if m := unknownKey.FindStringSubmatch(message); m != nil {
		message = fmt.Sprintf("unknown key %q", m[1])
		if near := Nearest(m[1], keys(reflect.TypeOf(v), nil)); near != "" {
			message += fmt.Sprintf(": did you mean %q?", near)
		}
	}
	return fmt.Errorf("%s: %s", where, message)
}

// keys lists all keys that a document for this type may have, at any depth.
func keys(t reflect.Type, out []string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return out
	}
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if tag == "-" || !f.IsExported() {
			continue
		}
		if tag != "" {
			out = append(out, tag)
		}
		out = keys(f.Type, out)
	}
	return out
}

// Nearest gives the candidate within an edit distance of a third of the word's length (at least 1), or "".
func Nearest(word string, candidates []string) string {
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	best, bestD := "", max(1, len(word)/3)+1
	for _, c := range sorted {
		if d := distance(word, c); d < bestD {
			best, bestD = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
