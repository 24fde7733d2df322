package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// The files that transformers looks for beside the weights.
const (
	fileGeneration      = "generation_config.json"
	fileTokenizerConfig = "tokenizer_config.json"
)

// hf writes a Hugging Face folder and opens it again.
func (x *exporter) hf() error {
	dtype := lm.F32
	if x.options.Type == TypeBF16 {
		dtype = lm.BF16
	}
	if err := x.bundle.Save(x.dir, dtype); err != nil {
		return err
	}
	if err := x.generation(); err != nil {
		return err
	}
	if err := x.tokenizerConfig(); err != nil {
		return err
	}
	back, err := local.OpenWith(x.dir, local.OpenOptions{Chat: x.story.ChatOptions()})
	if err != nil {
		return fmt.Errorf("what was written cannot be read: %w", err)
	}
	return x.check(back)
}

// check compares what was written with what was meant, and notes the identity that it has.
func (x *exporter) check(back *local.Bundle) error {
	if got, want := back.Renderer.ID(), x.bundle.Renderer.ID(); got != want {
		return fmt.Errorf("what was written renders as %s, want %s: its tokenizer or template is another", got.Short(), want.Short())
	}
	if got, want := back.Model.Hash(), x.bundle.Model.Hash(); x.options.Type == TypeF32 && got != want {
		return fmt.Errorf("what was written has the tensors %.8s, want %.8s", got, want)
	}
	x.result.Stored = back.Weights().ID
	if x.result.Stored != x.moment.Weights {
		x.note("The weights in this folder have the id %s, those of the run %s: %s.", x.result.Stored, x.moment.Weights, x.why())
	}
	return nil
}

// why says what makes the stored weights others than the run's, by identity.
func (x *exporter) why() string {
	switch merged := x.story.Config.Weight.LoRA.Rank > 0 && x.moment.Steps > 0; {
	case merged && x.options.Type != TypeF32:
		return "the adapter is merged into its base, and the sum rounded to " + x.options.Type
	case merged:
		return "the adapter is merged into its base"
	}
	return "they are rounded to " + x.options.Type
}

func (x *exporter) note(format string, args ...any) {
	x.result.Notes = append(x.result.Notes, fmt.Sprintf(format, args...))
}

// generation writes how to sample, where the model's makers do not say it: as the run did.
func (x *exporter) generation() error {
	if there, err := x.has(fileGeneration); err != nil || there {
		return err
	}
	s := x.story.Config.Sampling
	g := map[string]any{"eos_token_id": x.bundle.Renderer.StopIDs(), "do_sample": s.Temperature > 0}
	if s.Temperature > 0 {
		g["temperature"], g["top_p"], g["top_k"] = s.Temperature, s.TopP, s.TopK
	}
	x.note("generation_config.json has the run's sampling settings; the base model ships none.")
	return x.json(fileGeneration, g)
}

// tokenizerConfig names the class that reads tokenizer.json as it stands, where the model's makers do not.
func (x *exporter) tokenizerConfig() error {
	if there, err := x.has(fileTokenizerConfig); err != nil || there {
		return err
	}
	stop := x.bundle.Renderer.StopIDs()[0]
	return x.json(fileTokenizerConfig, map[string]any{
		"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": x.bundle.Tokenizer.Parts().Tokens[stop], "model_max_length": x.bundle.Model.Config().MaxSeq,
		"clean_up_tokenization_spaces": false,
	})
}

// has says whether a file of the export is there already.
func (x *exporter) has(name string) (bool, error) {
	_, err := os.Lstat(filepath.Join(x.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (x *exporter) json(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return x.file(name, append(data, '\n'))
}
