package strictyaml

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The decoder rounds 2.9 to 2, wraps numbers out of range and takes "7" for 7; so the document is checked against the Go type first.

// check compares a document with the type it is meant for.
func check(name string, data []byte, t reflect.Type) error {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return explain(name, err)
	}
	switch len(file.Docs) {
	case 0:
		return nil
	case 1:
	default:
		return fmt.Errorf("%s: got %d YAML documents, want one", name, len(file.Docs))
	}
	switch file.Docs[0].Body.(type) {
	case nil, *ast.CommentGroupNode:
		return nil
	}
	c := checker{name: name, root: t}
	return c.value(file.Docs[0].Body, t, "")
}

type checker struct {
	name string
	root reflect.Type
}

func (c checker) errorAt(n ast.Node, format string, args ...any) error {
	where := c.name
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		where = fmt.Sprintf("%s:%d:%d", c.name, tok.Position.Line, tok.Position.Column)
	}
	return fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...))
}

func (c checker) value(n ast.Node, t reflect.Type, key string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode, *ast.DirectiveNode:
		return c.errorAt(n, "%sanchors, aliases and tags are not read here; write the value out", prefix(key))
	case *ast.NullNode:
		return c.errorAt(n, "%sgot nothing, want a value; leave the key out for its default", prefix(key))
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return c.mapping(n, t, key)
	case reflect.Slice:
		list, ok := n.(*ast.SequenceNode)
		if !ok {
			return c.wrong(n, key, "a list")
		}
		for _, v := range list.Values {
			if err := c.value(v, t.Elem(), key); err != nil {
				return err
			}
		}
		return nil
	case reflect.String:
		switch n.(type) {
		case *ast.StringNode, *ast.LiteralNode:
			return nil
		}
		return c.wrong(n, key, "text; put it in quotes")
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return c.wrong(n, key, "true or false")
		}
		return nil
	case reflect.Float32, reflect.Float64:
		switch n.(type) {
		case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode: // the last two are refused where a range is checked
			return nil
		}
		if _, ok := plainFloat(n); ok {
			return nil
		}
		return c.wrong(n, key, "a number")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return c.integer(n, key, -math.Ldexp(1, t.Bits()-1), math.Ldexp(1, t.Bits()-1))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return c.integer(n, key, 0, math.Ldexp(1, t.Bits()))
	}
	return nil
}

// integer wants a whole number in [low, high).
func (c checker) integer(n ast.Node, key string, low, high float64) error {
	var ok bool
	switch n := n.(type) {
	case *ast.IntegerNode:
		switch v := n.Value.(type) {
		case int64:
			ok = float64(v) >= low && (high >= math.Ldexp(1, 63) || float64(v) < high) // 2^63-1 as a float is 2^63
		case uint64:
			ok = high == math.Ldexp(1, 64) || float64(v) < high // 2^64-1 as a float is 2^64
		}
	case *ast.FloatNode: // 1e6 is a whole number
		ok = whole(n.Value, low, high)
	default:
		v, is := plainFloat(n)
		ok = is && whole(v, low, high)
	}
	if !ok {
		if low == 0 {
			return c.wrong(n, key, "a whole number, not negative, that fits 64 bits")
		}
		return c.wrong(n, key, "a whole number that fits 64 bits")
	}
	return nil
}

func whole(v, low, high float64) bool {
	return v == math.Trunc(v) && math.Abs(v) < 1<<53 && v >= low && v < high
}

// plainFloat reads a number such as 1e-07, which the library takes for text until it decodes it.
func plainFloat(n ast.Node) (float64, bool) {
	s, ok := n.(*ast.StringNode)
	if !ok || s.Token.Type != token.StringType { // quoted text is text
		return 0, false
	}
	v, err := strconv.ParseFloat(s.Value, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

func (c checker) wrong(n ast.Node, key, want string) error {
	got := strings.TrimSpace(n.String())
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		got = "a group of keys"
	case *ast.SequenceNode:
		got = "a list"
	}
	if r := []rune(got); len(r) > 40 {
		got = string(r[:40]) + "…"
	}
	return c.errorAt(n, "%sgot %s, want %s", prefix(key), strings.Join(strings.Fields(got), " "), want)
}

func prefix(key string) string {
	if key == "" {
		return ""
	}
	return key + ": "
}

func (c checker) mapping(n ast.Node, t reflect.Type, key string) error {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return c.wrong(n, key, "a group of keys")
	}
	fields := map[string]reflect.Type{}
	if t.Kind() == reflect.Struct {
		collect(t, fields)
	}
	seen := map[string]bool{}
	for _, v := range values {
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			return c.value(v.Key, t, key)
		}
		name := v.Key.GetToken().Value
		full := strings.TrimPrefix(key+"."+name, ".")
		if seen[name] {
			return c.errorAt(v.Key, "key %q is there twice", name)
		}
		seen[name] = true
		want := reflect.Type(nil)
		if t.Kind() == reflect.Map {
			want = t.Elem()
		} else if want = fields[name]; want == nil {
			return c.errorAt(v.Key, "unknown key %q%s", name, c.suggestion(name, fields))
		}
		if err := c.value(v.Value, want, full); err != nil {
			return err
		}
	}
	return nil
}

// suggestion names the nearest key of this group, else one elsewhere in the document's type with its place.
func (c checker) suggestion(name string, fields map[string]reflect.Type) string {
	here := make([]string, 0, len(fields))
	for f := range fields {
		here = append(here, f)
	}
	if near := Nearest(name, here); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	places := map[string]string{}
	paths(c.root, "", places)
	all := make([]string, 0, len(places))
	for f := range places {
		all = append(all, f)
	}
	if near := Nearest(name, all); near != "" {
		return fmt.Sprintf(": did you mean %q?", places[near])
	}
	return ""
}

// collect gives the keys of a struct, those of inlined structs included.
func collect(t reflect.Type, into map[string]reflect.Type) {
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			collect(f.Type, into)
		case f.IsExported() && tag != "-" && tag != "":
			into[tag] = f.Type
		}
	}
}

// paths gives every key at any depth with its full path; of several places the first in name order.
func paths(t reflect.Type, path string, into map[string]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	fields := map[string]reflect.Type{}
	collect(t, fields)
	for name, ft := range fields {
		full := strings.TrimPrefix(path+"."+name, ".")
		if old, ok := into[name]; !ok || full < old {
			into[name] = full
		}
		paths(ft, full, into)
	}
}
