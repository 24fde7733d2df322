package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
)

// fileAdapterConfig tells an adapter folder, in the layout of Hugging Face's PEFT, from a model folder. Package lm reads the weights beside
// it.
const fileAdapterConfig = "adapter_config.json"

// maxAdapters bounds how many adapters may stand one on another.
const maxAdapters = 4

// openAdapter opens an adapter folder: its base model, named in adapter_config.json, with the adapter merged.
func openAdapter(dir string, o OpenOptions, depth int) (*Bundle, error) {
	b, err := mergeAdapter(dir, o, depth)
	if err != nil {
		return nil, fmt.Errorf("adapter %s: %w", dir, err)
	}
	return b, nil
}

func mergeAdapter(dir string, o OpenOptions, depth int) (*Bundle, error) {
	if depth >= maxAdapters {
		return nil, fmt.Errorf("got more than %d adapters one on another", maxAdapters)
	}
	f := newFolder(dir)
	data, err := f.need(fileAdapterConfig, maxText)
	if err != nil {
		return nil, err
	}
	var config struct {
		Base string `json:"base_model_name_or_path"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", fileAdapterConfig, err)
	}
	if config.Base == "" {
		return nil, fmt.Errorf("%s: base_model_name_or_path: got nothing, want the folder or name of the base model", fileAdapterConfig)
	}
	if _, err := f.read(fileWhale, maxText); err != nil {
		return nil, err
	}
	named, err := f.named()
	if err != nil {
		return nil, err
	}
	if o.Template == "" {
		o.Template = named.Template
	}
	b, err := openPath(config.Base, o, depth+1)
	if err != nil {
		return nil, fmt.Errorf("its base: %w", err)
	}
	base := b.Weights().ID
	if want := named.BaseWeights; want != "" && base != want {
		return nil, fmt.Errorf("its base %s has the weights %s, want %s, on which it was trained", config.Base, base.Short(), want.Short())
	}
	a, err := lm.LoadAdapter(dir, b.Model.Config())
	if err != nil {
		return nil, err
	}
	if err := b.Model.Merge(nil, a); err != nil {
		return nil, err
	}
	b.ref = adapterRef(base, a)
	b.Source, b.Format = dir, fmt.Sprintf("adapter of rank %d on %s (%s)", a.LoRA().Rank, b.Source, b.Format)
	return b, nil
}

// saveAdapter writes an adapter folder that [Open] and PEFT read.
func saveAdapter(dir string, b *Bundle, base whale.ID, a *lm.Adapter) error {
	path := strings.TrimPrefix(b.Source, embeddedPrefix)
	if path == b.Source {
		var err error
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
	}
	if err := a.Save(dir, path); err != nil {
		return err
	}
	w := whaleFile{BaseWeights: base}
	if b.open.Template != "" {
		w.Template = b.Renderer.template.ID()
	}
	return lm.ReplaceFile(filepath.Join(dir, fileWhale), func(out io.Writer) error { return json.NewEncoder(out).Encode(w) })
}

// adapterRef is the identity of base plus adapter: that of the base where the adapter changes nothing yet.
func adapterRef(base whale.ID, a *lm.Adapter) whale.WeightsRef {
	for _, t := range a.Tensors() {
		if !strings.Contains(t.Name, ".lora_B.") {
			continue
		}
		for _, x := range t.Data {
			if x != 0 {
				return whale.WeightsRef{ID: whale.HashBytes("weights", []byte(a.Hash(string(base))))}
			}
		}
	}
	return whale.WeightsRef{ID: base}
}

// isAdapter says whether a folder holds an adapter and no model.
func isAdapter(dir fs.FS) bool {
	_, errAdapter := fs.Stat(dir, fileAdapterConfig)
	_, errModel := fs.Stat(dir, fileConfig)
	return errAdapter == nil && errors.Is(errModel, fs.ErrNotExist)
}
