package custom

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/rows"
)

// reference is what Example.Answer holds.
type reference struct {
	Texts  []string                   `json:"texts,omitempty"`  // the answers, of all fields
	Values map[string]json.RawMessage `json:"values,omitempty"` // for json_schema and command: the fields as they are, by path
}

// viewHash is what two examples have in common that are the same.
type viewHash [16]byte

// item is an example with what loading has to know of it.
type item struct {
	example whale.Example
	same    viewHash
	text    string // what a division hashes
	at      string // file and row
	size    int
}

// itemOf reads an example of a row. The error is about the row.
func (m Manifest) itemOf(row rows.Row) (item, error) {
	view := make(map[string]string, len(m.View))
	size := 0
	for name, path := range m.View {
		text, err := m.field(row, name, path)
		if err != nil {
			return item{}, fmt.Errorf("view.%s: %w", name, err)
		}
		view[name] = text
		size += len(text)
	}
	ref, err := m.reference(row)
	if err != nil {
		return item{}, err
	}
	answer, err := json.Marshal(ref)
	if err != nil {
		return item{}, err
	}
	x := whale.Example{View: view, Answer: answer}
	if len(m.Meta) > 0 {
		x.Meta = make(map[string]string, len(m.Meta))
		for name, path := range m.Meta {
			if _, ok := row.JSON(path); !ok {
				continue // a report can do without
			}
			if x.Meta[name], err = shown(row, path); err != nil {
				return item{}, fmt.Errorf("meta.%s: %w", name, err)
			}
			size += len(x.Meta[name])
		}
	}
	if m.ID == "" {
		x.ID = string(whale.HashOf("custom/example", view))
	} else if x.ID, err = row.Text(m.ID); err != nil {
		return item{}, fmt.Errorf("id: %w", err)
	}
	const mostID = 200
	if x.ID == "" || len(x.ID) > mostID {
		return item{}, fmt.Errorf("id: got %d bytes, want 1 to %d", len(x.ID), mostID)
	}
	text := m.Data.form(view)
	sum := sha256.Sum256([]byte(text))
	it := item{example: x, at: row.At(), text: text, size: size + len(answer) + len(x.ID) + 200}
	copy(it.same[:], sum[:])
	return it, nil
}

// field is a field of the view.
func (m Manifest) field(row rows.Row, name, path string) (string, error) {
	optional := slices.Contains(m.Optional, name)
	if _, there := row.JSON(path); optional && !there {
		return "", nil
	}
	text, err := shown(row, path)
	if err == nil && !optional && strings.TrimSpace(text) == "" {
		err = fmt.Errorf("field %q: got an empty text", path)
	}
	return text, err
}

// shown is a field as an agent sees it: a text as it is, a list or an object as JSON.
func shown(row rows.Row, path string) (string, error) {
	if v, ok := row.JSON(path); ok && (v[0] == '[' || v[0] == '{') {
		var b bytes.Buffer
		if err := json.Compact(&b, v); err != nil {
			return "", err
		}
		return b.String(), nil
	}
	return row.Text(path)
}

// maxReferences bounds the reference answers of an example.
const maxReferences = 1000

// reference reads the answer fields.
func (m Manifest) reference(row rows.Row) (reference, error) {
	var ref reference
	raw := m.Verifier.Kind == KindJSONSchema || m.Verifier.Kind == KindCommand
	for _, path := range m.Answer {
		v, ok := row.JSON(path)
		if raw && ok {
			if ref.Values == nil {
				ref.Values = make(map[string]json.RawMessage, len(m.Answer))
			}
			ref.Values[path] = slices.Clone(v)
			continue
		}
		texts, err := row.Texts(path) // gives the error where there is no value
		if err != nil {
			return ref, fmt.Errorf("answer: %w", err)
		}
		ref.Texts = append(ref.Texts, texts...)
	}
	if len(ref.Texts) > maxReferences {
		return ref, fmt.Errorf("answer: got %d reference answers, want at most %d", len(ref.Texts), maxReferences)
	}
	return ref, usable(ref.Texts)
}

// form is the text by which views are the same: names and values in the order of names.
func (d DataConfig) form(view map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(view)) {
		text := view[name]
		if d.Same == SameNormalised {
			text = task.Normalize(text)
		}
		fmt.Fprintf(&b, "%s %d\n%s\n", name, len(text), text)
	}
	return b.String()
}
