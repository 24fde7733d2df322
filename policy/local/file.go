package local

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/gguf"
)

// openFile opens a GGUF file: weights dequantised to float32, tokenizer and chat template.
func openFile(path string, o OpenOptions) (_ *Bundle, err error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := openGGUF(f, path, o)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", path, err)
	}
	return b, nil
}

func openGGUF(f *gguf.File, path string, o OpenOptions) (*Bundle, error) {
	if _, err := f.Config(); err != nil { // what cannot be used is refused before anything large is read
		return nil, err
	}
	tok, err := f.Tokenizer()
	if err != nil {
		return nil, err
	}
	eos, err := f.EOS()
	if err != nil {
		return nil, err
	}
	jinja := f.ChatTemplate()
	template, err := chooseTemplate(o.Template, jinja, tok)
	if err != nil {
		return nil, err
	}
	model, err := f.Model()
	if err != nil {
		return nil, err
	}
	b := &Bundle{
		Model: model, Tokenizer: tok, Source: path, Format: "GGUF", Stored: storedTypes(f), Generation: lm.Generation{EOS: eos},
		open: o, files: map[string][]byte{},
	}
	if jinja != "" {
		b.files[fileTemplate] = []byte(jinja)
	}
	return b.finish(template, jinja)
}

// storedTypes lists the number formats in the file, the one with most tensors first.
func storedTypes(f *gguf.File) string {
	count := map[string]int{}
	var names []string
	for _, t := range f.Tensors() {
		name := t.Type.String()
		if count[name] == 0 {
			names = append(names, name)
		}
		count[name]++
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	return strings.Join(names, " and ")
}
