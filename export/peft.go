package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale/policy/local"
)

// The files of an adapter folder. whale.json is ours: which weights and which template the adapter is for.
const (
	fileAdapterConfig  = "adapter_config.json"
	fileAdapterWeights = "adapter_model.safetensors"
	fileWhale          = "whale.json"
)

// peft copies the adapter out of its snapshot and opens it again on its base.
func (x *exporter) peft() error {
	if x.story.Config.Weight.LoRA.Rank == 0 {
		return &OptionError{fmt.Sprintf("format peft: the run trains all weights (weight.lora.rank is 0), so that there is no adapter; want the format %s or %s", HF, GGUF)}
	}
	if x.moment.Steps == 0 {
		return &OptionError{fmt.Sprintf("format peft: at %s no step was trained, so that there is no adapter; want a later moment, or the format %s or %s for the base", x.moment.Name, HF, GGUF)}
	}
	from, err := x.story.ModelPath(x.moment)
	if err != nil {
		return err
	}
	for _, name := range []string{fileAdapterConfig, fileAdapterWeights, fileWhale} {
		if err := copyFile(filepath.Join(from, name), filepath.Join(x.dir, name)); err != nil {
			return err
		}
	}
	if x.bundle, err = local.OpenWith(x.dir, local.OpenOptions{Chat: x.story.ChatOptions()}); err != nil {
		return fmt.Errorf("what was written cannot be read: %w", err)
	}
	if x.result.Stored = x.bundle.Weights().ID; x.result.Stored != x.moment.Weights {
		return fmt.Errorf("what was written has the weights %s, want %s", x.result.Stored.Short(), x.moment.Weights.Short())
	}
	base, err := x.adapterBase()
	if err != nil {
		return err
	}
	x.note("The adapter names its base as %q: a path of the machine of the run, or the name of a model that is embedded in whale. On another machine set base_model_name_or_path in %s to where its base lies.", base, fileAdapterConfig)
	return nil
}

// adapterBase is the base model's name or path.
func (x *exporter) adapterBase() (string, error) {
	data, err := os.ReadFile(filepath.Join(x.dir, fileAdapterConfig)) // opened before, so that its size is bounded
	if err != nil {
		return "", err
	}
	var c struct {
		Base string `json:"base_model_name_or_path"`
	}
	return c.Base, json.Unmarshal(data, &c)
}

func copyFile(from, to string) (err error) {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return writeFile(to, func(w *bufio.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}
