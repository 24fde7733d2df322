package local

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// Bounds on the files of a folder, in bytes. Qwen3's tokenizer.json has 11 MB, and the largest chat templates known 20 kB.
const (
	maxTokenizer = 32 << 20
	maxText      = 4 << 20
)

// folder reads the files of a model folder and keeps what a copy of the model needs.
type folder struct {
	dir    fs.FS
	source string
	files  map[string][]byte
}

func newFolder(dir string) *folder {
	return &folder{dir: os.DirFS(dir), source: dir, files: map[string][]byte{}}
}

// openFolder opens a model folder.
func openFolder(dir fs.FS, source string, o OpenOptions) (*Bundle, error) {
	f := &folder{dir: dir, source: source, files: map[string][]byte{}}
	b, err := f.open(o)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", source, err)
	}
	return b, nil
}

// open reads the small files first, so that a folder which cannot be used is refused before its weights are read.
func (f *folder) open(o OpenOptions) (*Bundle, error) {
	data, err := f.need(fileConfig, maxText)
	if err != nil {
		return nil, err
	}
	if _, err := lm.ParseConfig(data); err != nil { // first of all: a foreign architecture has a foreign tokenizer too
		return nil, err
	}
	data, err = f.need(fileTokenizer, maxTokenizer)
	if err != nil {
		return nil, err
	}
	tok, err := token.ReadJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{fileTokenizerConfig, fileTemplate, fileGeneration, fileSpecials, fileWhale} {
		if _, err := f.read(name, maxText); err != nil {
			return nil, err
		}
	}
	named, err := f.named()
	if err != nil {
		return nil, err
	}
	if o.Template == "" {
		o.Template = named.Template
	}
	jinja, err := f.shippedTemplate()
	if err != nil && o.Template == "" { // a name goes before what is shipped
		return nil, err
	}
	template, err := chooseTemplate(o.Template, jinja, tok)
	if err != nil {
		return nil, err
	}
	model, err := f.weights()
	if err != nil {
		return nil, err
	}
	generation, err := lm.ReadGeneration(f.dir, model.Config().Vocab)
	if err != nil {
		return nil, err
	}
	stored := storedAs(f.files[fileConfig])
	delete(f.files, fileConfig) // written by the model
	delete(f.files, fileWhale)
	b := &Bundle{Model: model, Tokenizer: tok, Source: f.source, Format: "folder", Stored: stored, Generation: generation, open: o, files: f.files}
	return b.finish(template, jinja)
}

// storedAs is the number format of the weights, as config.json names it in transformers 4 or 5.
func storedAs(config []byte) string {
	var c struct {
		Old string `json:"torch_dtype"`
		New string `json:"dtype"`
	}
	if json.Unmarshal(config, &c) != nil {
		return ""
	}
	return cmp.Or(c.New, c.Old)
}

// weights reads the model.
func (f *folder) weights() (*lm.Model, error) {
	_, errOne := fs.Stat(f.dir, fileWeights)
	_, errMany := fs.Stat(f.dir, fileIndex)
	if errors.Is(errOne, fs.ErrNotExist) && errors.Is(errMany, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing, and so is %s; make the folder again, or name another model", fileWeights, fileIndex)
	}
	model, err := lm.LoadFS(f.dir)
	if err != nil && !strings.HasPrefix(err.Error(), fileConfig) {
		return nil, fmt.Errorf("%s: %w; copy or train the model again", fileWeights, err)
	}
	return model, err
}

// need reads a file that must be there.
func (f *folder) need(name string, limit int64) ([]byte, error) {
	data, err := f.read(name, limit)
	if err == nil && data == nil {
		return nil, fmt.Errorf("%s is missing; make the folder again, or name another model", name)
	}
	return data, err
}

// read reads a file of bounded size and keeps it; nil where there is none.
func (f *folder) read(name string, limit int64) ([]byte, error) {
	file, err := f.dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: got more than %d bytes", name, limit)
	}
	f.files[name] = data
	return data, nil
}

// shippedTemplate is the Jinja text that the folder ships, or "". As in transformers, a file of its own goes before the tokenizer's config.
func (f *folder) shippedTemplate() (string, error) {
	if data, ok := f.files[fileTemplate]; ok {
		return string(data), nil
	}
	data, ok := f.files[fileTokenizerConfig]
	if !ok {
		return "", nil
	}
	var config struct {
		Template json.RawMessage `json:"chat_template"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return "", fmt.Errorf("%s: %w", fileTokenizerConfig, err)
	}
	if len(config.Template) == 0 || string(config.Template) == "null" {
		return "", nil
	}
	var text string
	if json.Unmarshal(config.Template, &text) == nil {
		return text, nil
	}
	var list []struct {
		Name     string `json:"name"`
		Template string `json:"template"`
	}
	if err := json.Unmarshal(config.Template, &list); err != nil {
		return "", fmt.Errorf("%s: chat_template: %w", fileTokenizerConfig, err)
	}
	if len(list) == 1 && list[0].Name == "default" {
		return list[0].Template, nil
	}
	return "", fmt.Errorf("%s: chat_template: got a list of %d, want one; name a template (policy.template in a config, --template of a command): %s",
		fileTokenizerConfig, len(list), strings.Join(chat.Names(), ", "))
}

// named is what whale.json says.
func (f *folder) named() (w whaleFile, err error) {
	data, ok := f.files[fileWhale]
	if !ok {
		return w, nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return w, fmt.Errorf("%s: %w", fileWhale, err)
	}
	return w, nil
}

// chooseTemplate takes the template that is named, else the one whose fingerprint the shipped text has. A model that ships none and has
// exactly the control tokens of whale-tiny's template speaks that.
func chooseTemplate(name, jinja string, tok *token.Tokenizer) (*chat.Template, error) {
	switch {
	case name != "":
		return chat.ByName(name)
	case jinja != "":
		return chat.Identify(jinja)
	}
	t := chat.Whale()
	for _, control := range t.Controls {
		if _, ok := tok.Special(control); !ok {
			return nil, errTemplate
		}
	}
	return t, nil
}

// finish checks that the parts fit and adds the renderer.
func (b *Bundle) finish(template *chat.Template, jinja string) (*Bundle, error) {
	if v := b.Model.Config().Vocab; b.Tokenizer.Vocab() > v {
		return nil, fmt.Errorf("tokenizer: got %d tokens, want at most %d, the model's vocab_size", b.Tokenizer.Vocab(), v)
	}
	if jinja != "" {
		b.Shipped = chat.Fingerprint(jinja)
	}
	var err error
	b.Renderer, err = NewTemplateRenderer(b.Tokenizer, template, b.open.Chat, b.Generation.EOS)
	return b, err
}
