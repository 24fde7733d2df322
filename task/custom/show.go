package custom

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// ShowOptions say what of a task is shown.
type ShowOptions struct {
	Split   whale.Split // whose examples; "" = the first that has any
	Example int         // the one example to show whole, counted from 1; 0 = the first few, each field cut
	Answers bool        // show reference answers too
}

const (
	shownExamples = 3
	shownBytes    = 400 // of a field
)

// Show writes what a task is: what agents are told, counts, fields, tools, and examples as an agent sees them.
func (t *Task) Show(w io.Writer, o ShowOptions) error {
	p := printer{w: w}
	p.line("task %s", t.manifest.Name)
	p.line("id %s", t.id)
	p.line("\n%s\n", t.About())
	for _, s := range splits() {
		p.line("split %s: %d examples", s, len(t.data.items[s]))
	}
	for _, n := range t.Notes() {
		p.line("%s", n)
	}
	for _, name := range slices.Sorted(maps.Keys(t.manifest.View)) {
		p.line("field %s: %s of a row", name, t.manifest.View[name])
	}
	for _, tool := range t.tools {
		p.line("tool %s", signature(tool.Spec()))
	}
	split, list, err := t.shownSplit(o)
	if err != nil {
		return err
	}
	if o.Example > 0 {
		p.example(split, o.Example, list[o.Example-1], o.Answers, -1)
		return p.err
	}
	for i, it := range list[:min(len(list), shownExamples)] {
		p.example(split, i+1, it, o.Answers, shownBytes)
	}
	return p.err
}

func (t *Task) shownSplit(o ShowOptions) (whale.Split, []item, error) {
	split := o.Split
	for _, s := range splits() {
		if split == "" && len(t.data.items[s]) > 0 {
			split = s
		}
	}
	if split != "" && !slices.Contains(splits(), split) {
		return "", nil, fmt.Errorf("custom: got split %q, want one of %v", clip(string(split)), splits())
	}
	list := t.data.items[split]
	if o.Example < 0 || o.Example > len(list) {
		return "", nil, fmt.Errorf("custom: got example %d, but split %s has %d, counted from 1", o.Example, split, len(list))
	}
	return split, list, nil
}

func (p *printer) example(s whale.Split, n int, it item, answers bool, most int) {
	p.line("\nexample %d of %s, id %s (%s)", n, s, clip(it.example.ID), it.at)
	for _, name := range slices.Sorted(maps.Keys(it.example.View)) {
		text := it.example.View[name]
		if most > 0 && len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (%d bytes)", len(text))
		}
		p.line("%s: %s", name, visible(text))
	}
	for _, name := range slices.Sorted(maps.Keys(it.example.Meta)) {
		p.line("meta %s: %s", name, visible(clip(it.example.Meta[name])))
	}
	if answers {
		texts, err := it.answers()
		if err != nil {
			p.err = err
			return
		}
		for _, text := range texts {
			p.line("answer: %s", visible(clip(text)))
		}
	}
}

// visible writes control characters as escapes: data must not drive a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// signature writes a tool as a harness calls it.
func signature(spec whale.ToolSpec) string {
	var args []string
	for _, p := range spec.Parameters {
		text := p.Name + ": " + p.Type
		if !p.Required {
			text += "?"
		}
		if p.Authored {
			text += " (authored)"
		}
		args = append(args, text)
	}
	return spec.Name + "(" + strings.Join(args, ", ") + ")"
}

// Summary is what Show tells, for programs.
type Summary struct {
	Name     string              `json:"name"`
	ID       whale.ID            `json:"id"`
	About    string              `json:"about"`
	Splits   map[whale.Split]int `json:"splits"`
	View     map[string]string   `json:"view"`
	Tools    []whale.ToolSpec    `json:"tools"`
	Notes    []string            `json:"notes"`
	Verifier string              `json:"verifier"`
}

// Summary gives counts, fields and tools.
func (t *Task) Summary() Summary {
	s := Summary{
		Name: t.Name(), ID: t.id, About: t.About(), Splits: map[whale.Split]int{}, View: maps.Clone(t.manifest.View),
		Tools: []whale.ToolSpec{}, Notes: t.Notes(), Verifier: t.manifest.Verifier.Kind,
	}
	for _, split := range splits() {
		s.Splits[split] = len(t.data.items[split])
	}
	for _, tool := range t.tools {
		s.Tools = append(s.Tools, tool.Spec())
	}
	return s
}
