package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/strictyaml"
)

// object reads the fields of a JSON object one by one. It keeps the first error; close finds the fields that nobody took.
type object struct {
	path  string // of the object in the request, empty for the request itself
	left  map[string]json.RawMessage
	known []string
	err   *failure
}

func readObject(path string, raw []byte) *object {
	o := &object{path: path}
	if err := json.Unmarshal(raw, &o.left); err != nil || o.left == nil {
		if path == "" {
			path = "body"
		}
		o.err = refuse("", "%s: got %s, want a JSON object", path, brief(raw))
	}
	return o
}

// at is the full name of a field.
func (o *object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

func (o *object) fail(name, format string, args ...any) {
	if o.err == nil {
		o.err = refuse(o.at(name), format, args...)
	}
}

// join takes over the first error of a part.
func (o *object) join(err *failure) {
	if o.err == nil {
		o.err = err
	}
}

// take gives a field's value, and nil where it is absent or null.
func (o *object) take(name string) json.RawMessage {
	o.known = append(o.known, name)
	raw := o.left[name]
	delete(o.left, name)
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// decode reads a field into a value of the wanted kind, and reports whether it is there and right.
func decode[T any](o *object, name, want string, to *T) bool {
	raw := o.take(name)
	if raw == nil {
		return false
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		o.fail(name, "got %s, want %s", brief(raw), want)
		return false
	}
	*to = v
	return true
}

func (o *object) number(name string, absent, low, high float64) float64 {
	v := absent
	if decode(o, name, "a number", &v) && !(v >= low && v <= high) {
		o.fail(name, "got %v, want %v to %v", v, low, high)
	}
	return v
}

func (o *object) integer(name string, absent, low, high int64) int64 {
	v := absent
	if decode(o, name, "a whole number", &v) && (v < low || v > high) {
		if high == math.MaxInt64 {
			o.fail(name, "got %d, want at least %d", v, low)
		} else {
			o.fail(name, "got %d, want %d to %d", v, low, high)
		}
	}
	return v
}

func (o *object) flag(name string, absent bool) bool {
	v := absent
	decode(o, name, "true or false", &v)
	return v
}

func (o *object) text(name string) string {
	var v string
	decode(o, name, "a text", &v)
	return v
}

// list reads an array of at most most elements.
func (o *object) list(name string, most int) []json.RawMessage {
	var v []json.RawMessage
	if decode(o, name, "a list", &v) && len(v) > most {
		o.fail(name, "got %d elements, want at most %d", len(v), most)
		return nil
	}
	return v
}

// only refuses a field unless it has one of the values that change nothing, as JSON.
func (o *object) only(name, why string, values ...string) {
	raw := o.take(name)
	if raw == nil {
		return
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err == nil && slices.Contains(values, b.String()) {
		return
	}
	o.fail(name, "got %s, want %s: %s", brief(raw), strings.Join(values, " or "), why)
}

// close refuses what was not taken, and gives the object's first error.
func (o *object) close() *failure {
	if o.err != nil || len(o.left) == 0 {
		return o.err
	}
	var names []string
	for name := range o.left {
		names = append(names, name)
	}
	name := slices.Min(names)
	text := "unknown field"
	if near := strictyaml.Nearest(name, o.known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	} else {
		text += ": nothing here would honour it; leave it out"
	}
	o.fail(clip(name), "%s", text)
	return o.err
}

// brief shows the beginning of a value of the request.
func brief(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "no JSON"
	}
	return clip(b.String())
}

func clip(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
