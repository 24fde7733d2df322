package local

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// The files of a model folder that are ours to read; package lm reads the weights.
const (
	fileConfig          = "config.json"
	fileWeights         = "model.safetensors"
	fileIndex           = "model.safetensors.index.json"
	fileTokenizer       = "tokenizer.json"
	fileTokenizerConfig = "tokenizer_config.json"
	fileTemplate        = "chat_template.jinja"
	fileGeneration      = "generation_config.json"
	fileSpecials        = "special_tokens_map.json"
	fileWhale           = "whale.json" // ours: the template that was named for a model whose own is unknown
)

//go:embed models
var embedded embed.FS

// EmbeddedModels lists the names of the models inside the binary.
func EmbeddedModels() []string {
	entries, err := embedded.ReadDir("models")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// Bundle is a model with its tokenizer and renderer.
type Bundle struct {
	Model      *lm.Model
	Tokenizer  *token.Tokenizer
	Renderer   *Renderer
	Source     string        // "embedded:NAME", or the path
	Format     string        // how it was stored, in words
	Stored     string        // number format of the stored weights; float32 in memory
	Generation lm.Generation // how the model's makers sample from it
	Shipped    string        // fingerprint of the chat template that the model ships; empty where it ships none

	ref   whale.WeightsRef // of base and adapter; where it is empty, the model's own hash is the identity
	open  OpenOptions
	files map[string][]byte // what Save writes as it was read: tokenizer and template
}

// OpenOptions are what a model does not say itself.
type OpenOptions struct {
	Template string       // name of a chat template; empty: the one that the model ships, by its fingerprint
	Chat     chat.Options // how the template renders
}

// Open opens an embedded model by name, else a model folder or a .gguf file by path.
func Open(nameOrPath string) (*Bundle, error) { return OpenWith(nameOrPath, OpenOptions{}) }

// OpenWith is Open with choices. A folder is Hugging Face's (config.json, model.safetensors or its shards, tokenizer.json, a chat template in
// chat_template.jinja or tokenizer_config.json, ids that end a reply in generation_config.json), PEFT's (an adapter, merged into its base),
// or one that this package wrote.
func OpenWith(nameOrPath string, o OpenOptions) (*Bundle, error) { return openPath(nameOrPath, o, 0) }

// embeddedPrefix marks the source of an embedded model.
const embeddedPrefix = "embedded:"

// openPath opens a model under depth adapters.
func openPath(nameOrPath string, o OpenOptions, depth int) (*Bundle, error) {
	if slices.Contains(EmbeddedModels(), nameOrPath) {
		sub, err := fs.Sub(embedded, "models/"+nameOrPath)
		if err != nil {
			return nil, err
		}
		return openFolder(sub, embeddedPrefix+nameOrPath, o)
	}
	info, err := os.Stat(nameOrPath)
	switch {
	case err != nil:
		return nil, fmt.Errorf("model %s: no such embedded model or folder, and no .gguf file; embedded are: %v; a folder holds %s, %s and %s",
			nameOrPath, EmbeddedModels(), fileConfig, fileWeights, fileTokenizer)
	case info.IsDir():
		if dir := os.DirFS(nameOrPath); !isAdapter(dir) {
			return openFolder(dir, nameOrPath, o)
		}
		return openAdapter(nameOrPath, o, depth)
	case info.Mode().IsRegular():
		return openFile(nameOrPath, o)
	}
	return nil, fmt.Errorf("model %s: got a %s, want a folder or a .gguf file", nameOrPath, info.Mode().Type())
}

// NewBundle joins a model and a tokenizer with whale-tiny's template.
func NewBundle(model *lm.Model, tok *token.Tokenizer, source string) (*Bundle, error) {
	r, err := NewRenderer(tok)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", source, err)
	}
	return &Bundle{Model: model, Tokenizer: tok, Renderer: r, Source: source, Format: "in memory"}, nil
}

// Save writes a model folder that [Open] reads, and transformers where the model came from there. Each file is written beside its place and
// renamed.
func (b *Bundle) Save(dir string, dtype lm.DType) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := b.Model.Save(dir, dtype); err != nil {
		return err
	}
	return b.saveTexts(dir)
}

// saveTexts writes all but the weights and their config.
func (b *Bundle) saveTexts(dir string) error {
	if _, ok := b.files[fileTokenizer]; !ok {
		if err := lm.ReplaceFile(filepath.Join(dir, fileTokenizer), b.Tokenizer.WriteJSON); err != nil {
			return err
		}
	}
	files := map[string][]byte{}
	for name, data := range b.files {
		files[name] = data
	}
	if _, ok := files[fileGeneration]; !ok && len(b.Generation.EOS) > 0 {
		data, err := json.Marshal(map[string]any{"eos_token_id": b.Generation.EOS})
		if err != nil {
			return err
		}
		files[fileGeneration] = data
	}
	if b.open.Template != "" {
		data, err := json.Marshal(whaleFile{Template: b.Renderer.template.ID()})
		if err != nil {
			return err
		}
		files[fileWhale] = data
	}
	for name, data := range files {
		err := lm.ReplaceFile(filepath.Join(dir, name), func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// whaleFile is whale.json.
type whaleFile struct {
	Template    string   `json:"template,omitempty"`     // that was named for the model
	BaseWeights whale.ID `json:"base_weights,omitempty"` // of an adapter: what it was trained on
}

// Weights is the identity of the bundle's weights: of the tensors, or of base and adapter.
func (b *Bundle) Weights() whale.WeightsRef {
	if b.ref.ID != "" {
		return b.ref
	}
	return weightsRef(b.Model)
}

// NewPolicy starts a sampler over the bundle's weights, which must not change while the policy lives.
func (b *Bundle) NewPolicy(opt Options) *Policy {
	return newPolicy(b.Renderer, b.Model, b.Weights(), opt)
}

func weightsRef(m *lm.Model) whale.WeightsRef {
	return whale.WeightsRef{ID: whale.HashBytes("weights", []byte(m.Hash()))}
}

// errTemplate is where a model has no chat template that we know and none was named.
var errTemplate = errors.New("chat template: the model ships none; name one by policy.template in a config, or by --template of a command")
