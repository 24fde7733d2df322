package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/recipe"
)

// Format is how the weights are written.
type Format string

// The formats.
const (
	HF   Format = "hf"   // a Hugging Face folder: config.json, model.safetensors, tokenizer; an adapter is merged
	PEFT Format = "peft" // an adapter folder of PEFT: adapter_config.json, adapter_model.safetensors
	GGUF Format = "gguf" // one file, model.gguf, as llama.cpp has it; an adapter is merged
)

// Formats lists them.
func Formats() []Format { return []Format{HF, PEFT, GGUF} }

// Number formats of weights. F32 is exact; the others round to nearest even.
const (
	TypeF32  = "f32"
	TypeF16  = "f16"
	TypeBF16 = "bf16"
)

// Types lists the number formats that a format can be written in.
func (f Format) Types() []string {
	switch f {
	case HF:
		return []string{TypeF32, TypeBF16}
	case GGUF:
		return []string{TypeF32, TypeF16, TypeBF16}
	}
	return []string{TypeF32}
}

// Options say what is exported, and how.
type Options struct {
	Format Format
	Type   string // of the weights: one of the format's Types
	At     string // the moment of the run: see recipe.Story.Moments; "" is its last
	Build  string // names the binary that exports; "" = unknown
}

// check names the first option that is wrong.
func (o Options) check() error {
	if !slices.Contains(Formats(), o.Format) {
		return &OptionError{fmt.Sprintf("format: got %q, want one of %v", o.Format, Formats())}
	}
	if !slices.Contains(o.Format.Types(), o.Type) {
		return &OptionError{fmt.Sprintf("type: got %q, want one of %s for the format %s", o.Type, strings.Join(o.Format.Types(), ", "), o.Format)}
	}
	return nil
}

// OptionError is a wrong choice of what to export or where to.
type OptionError struct{ text string }

func (e *OptionError) Error() string { return e.text }

// Result is what was exported.
type Result struct {
	Dir         string        `json:"dir"`
	Format      Format        `json:"format"`
	Type        string        `json:"type"`
	Moment      recipe.Moment `json:"moment"`
	Stored      whale.ID      `json:"stored"`       // weights as the folder holds them; another id than the moment's where they are merged or rounded
	HarnessFile string        `json:"harness_file"` // below Dir
	Finished    bool          `json:"finished"`     // the run has its final table
	Files       []string      `json:"files"`        // below Dir, sorted
	Notes       []string      `json:"notes,omitempty"`
}

// Run exports a moment of the run in dir to the folder out, which must not be there. The folder appears whole or not at all.
func Run(ctx context.Context, dir, out string, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := bounded(dir); err != nil {
		return nil, err
	}
	story, err := recipe.ReadStory(ctx, dir)
	if err != nil {
		return nil, err
	}
	moment, err := story.Moment(o.At)
	if err != nil {
		return nil, err
	}
	prog, err := story.Program(moment)
	if err != nil {
		return nil, err
	}
	x := &exporter{ctx: ctx, options: o, story: story, moment: moment, program: prog}
	return x.write(out)
}

// exporter is an export under way.
type exporter struct {
	ctx     context.Context
	options Options
	story   *recipe.Story
	moment  recipe.Moment
	program recipe.Program

	dir    string // the temporary folder
	bundle *local.Bundle
	result Result
}

// write fills a temporary folder beside out and renames it.
func (x *exporter) write(out string) (_ *Result, err error) {
	out, err = filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	if err := absent(out); err != nil {
		return nil, err
	}
	x.dir, err = os.MkdirTemp(filepath.Dir(out), "."+filepath.Base(out)+".*")
	if err != nil {
		return nil, fmt.Errorf("export to %s: %w", out, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("export to %s: %w", out, errors.Join(err, os.RemoveAll(x.dir)))
		}
	}()
	x.result = Result{Dir: out, Format: x.options.Format, Type: x.options.Type, Moment: x.moment, Finished: len(x.story.Final) > 0}
	for _, step := range []func() error{x.weights, x.harness, x.config, x.card, x.seal} {
		if err := x.ctx.Err(); err != nil {
			return nil, err
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := absent(out); err != nil { // a rename would replace an empty folder that came meanwhile
		return nil, err
	}
	if err := os.Rename(x.dir, out); err != nil {
		return nil, err
	}
	return &x.result, syncFolder(filepath.Dir(out))
}

// weights writes the weights in the format.
func (x *exporter) weights() (err error) {
	if x.options.Format == PEFT {
		return x.peft()
	}
	if x.bundle, err = x.story.Model(x.moment); err != nil {
		return err
	}
	if x.options.Format == GGUF {
		return x.llamacpp()
	}
	return x.hf()
}

// harness writes the program under the name that the run has it by.
func (x *exporter) harness() error {
	x.result.HarnessFile = filepath.Join(harnessFolder, x.program.Name)
	if err := os.Mkdir(filepath.Join(x.dir, harnessFolder), 0o755); err != nil {
		return err
	}
	return x.file(x.result.HarnessFile, x.program.Source)
}

// harnessFolder holds the harness program in an export.
const harnessFolder = "harness"

// config writes the run's config, as it was resolved.
func (x *exporter) config() error {
	text, err := x.story.Config.YAML()
	if err != nil {
		return err
	}
	return x.file("config.yaml", text)
}

// file writes one file of the export.
func (x *exporter) file(name string, data []byte) error {
	return os.WriteFile(filepath.Join(x.dir, name), data, 0o644)
}
