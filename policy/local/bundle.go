package local

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
)

// The files of a model folder.
const (
	fileConfig    = "config.json"
	fileWeights   = "model.safetensors"
	fileTokenizer = "tokenizer.json"
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
	Model     *lm.Model
	Tokenizer *token.Tokenizer
	Renderer  *Renderer
	Source    string // "embedded:NAME" or the folder
}

// Open opens an embedded model by name, else a model folder by path.
func Open(nameOrDir string) (*Bundle, error) {
	for _, n := range EmbeddedModels() {
		if n == nameOrDir {
			sub, err := fs.Sub(embedded, "models/"+n)
			if err != nil {
				return nil, err
			}
			return open(sub, "embedded:"+n)
		}
	}
	info, err := os.Stat(nameOrDir)
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("model %s: no such embedded model or folder; embedded are: %v; a folder holds %s, %s and %s",
			nameOrDir, EmbeddedModels(), fileConfig, fileWeights, fileTokenizer)
	}
	return open(os.DirFS(nameOrDir), nameOrDir)
}

func open(dir fs.FS, source string) (*Bundle, error) {
	read := func(name string) ([]byte, error) {
		data, err := fs.ReadFile(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("model %s: %s is missing; make the folder again, or name another model", source, name)
		}
		if err != nil {
			return nil, fmt.Errorf("model %s: %s: %w", source, name, err)
		}
		return data, nil
	}
	cfgData, err := read(fileConfig)
	if err != nil {
		return nil, err
	}
	var cfg lm.Config
	if err := json.Unmarshal(cfgData, &cfg); err != nil {
		return nil, fmt.Errorf("model %s: %s: %w", source, fileConfig, err)
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("model %s: %s: %w", source, fileConfig, err)
	}
	tokData, err := read(fileTokenizer)
	if err != nil {
		return nil, err
	}
	tok, err := token.ReadJSON(bytes.NewReader(tokData))
	if err != nil {
		return nil, fmt.Errorf("model %s: %s: %w", source, fileTokenizer, err)
	}
	if tok.Vocab() > cfg.Vocab {
		return nil, fmt.Errorf("model %s: %s has %d tokens, but the model's vocab_size is %d", source, fileTokenizer, tok.Vocab(), cfg.Vocab)
	}
	weights, err := read(fileWeights)
	if err != nil {
		return nil, err
	}
	model, err := lm.ReadSafetensors(cfg, weights)
	if err != nil {
		return nil, fmt.Errorf("model %s: %s: %w; copy or train the model again", source, fileWeights, err)
	}
	return NewBundle(model, tok, source)
}

// NewBundle joins a model and a tokenizer.
func NewBundle(model *lm.Model, tok *token.Tokenizer, source string) (*Bundle, error) {
	r, err := NewRenderer(tok)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", source, err)
	}
	return &Bundle{Model: model, Tokenizer: tok, Renderer: r, Source: source}, nil
}

// Save writes a model folder. Each file is written beside its place and renamed.
func (b *Bundle) Save(dir string, dtype lm.DType) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := b.Model.Save(dir, dtype); err != nil {
		return err
	}
	return writeAtomic(filepath.Join(dir, fileTokenizer), b.Tokenizer.WriteJSON)
}

// Weights is the identity of the bundle's weights.
func (b *Bundle) Weights() whale.WeightsRef { return weightsRef(b.Model) }

func weightsRef(m *lm.Model) whale.WeightsRef {
	return whale.WeightsRef{ID: whale.HashBytes("weights", []byte(m.Hash()))}
}

func writeAtomic(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
