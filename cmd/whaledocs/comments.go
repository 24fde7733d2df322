package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

const module = "github.com/seed-095d5d2b/whale"

// comments reads what the source says of struct types and their fields.
type comments struct {
	root     string
	packages map[string]map[string]structDoc // import path → type name
}

type structDoc struct {
	doc    string
	fields map[string]string // by the field's Go name
}

func newComments(root string) *comments {
	return &comments{root: root, packages: map[string]map[string]structDoc{}}
}

// of gives the comments of a named struct type of this module.
func (c *comments) of(t reflect.Type) (structDoc, error) {
	types, ok := c.packages[t.PkgPath()]
	if !ok {
		var err error
		if types, err = readTypes(filepath.Join(c.root, strings.TrimPrefix(t.PkgPath(), module))); err != nil {
			return structDoc{}, err
		}
		c.packages[t.PkgPath()] = types
	}
	return types[t.Name()], nil
}

func readTypes(dir string) (map[string]structDoc, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := map[string]structDoc{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range gen.Specs {
				spec, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if st, ok := spec.Type.(*ast.StructType); ok {
					out[spec.Name.Name] = readStruct(st, gen.Doc)
				}
			}
		}
	}
	return out, nil
}

func readStruct(st *ast.StructType, doc *ast.CommentGroup) structDoc {
	s := structDoc{doc: words(doc), fields: map[string]string{}}
	for _, f := range st.Fields.List {
		text := words(f.Comment)
		if text == "" {
			text = words(f.Doc)
		}
		for _, n := range f.Names {
			s.fields[n.Name] = text
		}
	}
	return s
}

func words(g *ast.CommentGroup) string { return strings.Join(strings.Fields(g.Text()), " ") }

// firstSentence gives a text up to its first full stop that ends a sentence.
func firstSentence(s string) string {
	first, _, ok := strings.Cut(s, ". ")
	if ok {
		return first + "."
	}
	return s
}
