package rows

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// field is a node of the schema, with what is needed to put a row together from its columns (Dremel's levels: a value's definition level is how
// many of the optional and repeated nodes above it are there, its repetition level which of the repeated ones it continues).
type field struct {
	name       string
	key        []byte // its name as JSON, with the colon
	optional   bool
	repeated   bool
	definition int // level from which on it is there
	repetition int // level of its further elements
	children   []*field
	first      int // of its columns
	columns    int
	list       bool // a group annotated as a list or a map: stands for its one child, which repeats
	element    bool // a repeated group that stands for its one child
	value      func(buf []byte, v parquet.Value) ([]byte, error)
}

// rootNode is the root of a schema, of which some writers say that it repeats. It does not.
type rootNode struct{ parquet.Node }

func (rootNode) Optional() bool { return false }
func (rootNode) Repeated() bool { return false }

// newField reads the schema below a node; leaves count the columns so far.
func newField(name string, n parquet.Node, definition, repetition int, leaves *int) (*field, error) {
	f := &field{name: name, key: append(appendText(nil, name), ':'), optional: n.Optional(), repeated: n.Repeated(), first: *leaves}
	if f.optional || f.repeated {
		definition++
	}
	if f.repeated {
		repetition++
	}
	f.definition, f.repetition = definition, repetition
	if n.Leaf() {
		*leaves++
		f.columns = 1
		f.value = valueOf(n.Type())
		return f, nil
	}
	for _, child := range n.Fields() {
		c, err := newField(child.Name(), child, definition, repetition, leaves)
		if err != nil {
			return nil, err
		}
		f.children = append(f.children, c)
	}
	f.columns = *leaves - f.first
	if f.columns == 0 {
		return nil, fmt.Errorf("column %q: got a group without columns", clip(name))
	}
	list, pairs := annotation(n)
	if (list || pairs) && len(f.children) == 1 && f.children[0].repeated {
		f.list = true
		// The names that are no wrapping: parquet-format, LogicalTypes.md, backward compatibility rules of lists.
		inner := n.Fields()[0]
		f.children[0].element = list && len(f.children[0].children) == 1 && inner.Name() != "array" && inner.Name() != name+"_tuple"
	}
	return f, nil
}

// annotation tells whether a group is annotated as a list or as a map, which becomes a list of objects with key and value; by the annotations of today or by those of
// old files.
func annotation(n parquet.Node) (list, pairs bool) {
	t := n.Type()
	if l := t.LogicalType(); l != nil {
		_, list = l.Value.(*format.ListType)
		_, pairs = l.Value.(*format.MapType)
		return list, pairs
	}
	c := t.ConvertedType()
	return c != nil && *c == deprecated.List, c != nil && *c == deprecated.Map
}

var errRagged = errors.New("got columns that do not fit together")

// assemble puts rows together: for every column the values of one row.
type assemble struct {
	columns [][]parquet.Value // what is left of them
	buf     []byte
	ends    []int // of the top-level fields in buf
	most    int
}

// errLong is that a row is longer than it may be.
var errLong = errors.New("got a row of too many bytes")

// row gives the fields of a row.
func (a *assemble) row(root *field) (fields, error) {
	a.buf = a.buf[:0]
	a.ends = a.ends[:0]
	for _, c := range root.children {
		if err := a.field(c); err != nil {
			return nil, err
		}
		a.ends = append(a.ends, len(a.buf))
	}
	for _, c := range a.columns {
		if len(c) > 0 {
			return nil, errRagged
		}
	}
	out, data, from := make(fields, len(root.children)), bytes.Clone(a.buf), 0
	for i, c := range root.children {
		out[c.name] = data[from:a.ends[i]:a.ends[i]]
		from = a.ends[i]
	}
	return out, nil
}

func (a *assemble) object(f *field) error {
	a.buf = append(a.buf, '{')
	for i, c := range f.children {
		if i > 0 {
			a.buf = append(a.buf, ',')
		}
		a.buf = append(a.buf, c.key...)
		if err := a.field(c); err != nil {
			return err
		}
	}
	a.buf = append(a.buf, '}')
	return nil
}

// field writes all of a field: null, one value or a list.
func (a *assemble) field(f *field) error {
	if len(a.buf) > a.most {
		return errLong
	}
	if !f.optional && !f.repeated {
		return a.instance(f)
	}
	if len(a.columns[f.first]) == 0 {
		return errRagged
	}
	if a.columns[f.first][0].DefinitionLevel() < f.definition {
		if f.repeated {
			a.buf = append(a.buf, "[]"...)
		} else {
			a.buf = append(a.buf, "null"...)
		}
		return a.skip(f)
	}
	if !f.repeated {
		return a.instance(f)
	}
	a.buf = append(a.buf, '[')
	for first := true; ; first = false {
		if !first {
			if next := a.columns[f.first]; len(next) == 0 || next[0].RepetitionLevel() != f.repetition {
				break
			}
			a.buf = append(a.buf, ',')
		}
		if err := a.instance(f); err != nil {
			return err
		}
	}
	a.buf = append(a.buf, ']')
	return nil
}

// skip takes the one entry that every column has where a field is not there.
func (a *assemble) skip(f *field) error {
	for i := f.first; i < f.first+f.columns; i++ {
		if len(a.columns[i]) == 0 {
			return errRagged
		}
		a.columns[i] = a.columns[i][1:]
	}
	return nil
}

// instance writes one value of a field that is there.
func (a *assemble) instance(f *field) (err error) {
	switch {
	case f.list, f.element:
		return a.field(f.children[0])
	case f.value == nil:
		return a.object(f)
	}
	if len(a.columns[f.first]) == 0 {
		return errRagged
	}
	v := a.columns[f.first][0]
	a.columns[f.first] = a.columns[f.first][1:]
	if v.IsNull() {
		a.buf = append(a.buf, "null"...)
		return nil
	}
	if a.buf, err = f.value(a.buf, v); err == nil && len(a.buf) > a.most {
		err = errLong
	}
	return err
}
