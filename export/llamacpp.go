package export

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale/lm/gguf"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// fileGGUF is the model's file in an export of that format.
const fileGGUF = "model.gguf"

// llamacpp writes a GGUF file and opens it again.
func (x *exporter) llamacpp() error {
	kinds := map[string]gguf.Type{TypeF32: gguf.F32, TypeF16: gguf.F16, TypeBF16: gguf.BF16}
	path := filepath.Join(x.dir, fileGGUF)
	err := writeFile(path, func(w *bufio.Writer) error {
		return gguf.Write(w, x.bundle.Model, gguf.WriteOptions{
			Type: kinds[x.options.Type], Name: x.story.Config.Name, Tokenizer: x.bundle.Tokenizer, Template: x.bundle.ShippedTemplate(), Stops: x.bundle.Renderer.StopIDs(),
		})
	})
	if err != nil {
		return err
	}
	back, err := local.OpenWith(path, local.OpenOptions{Template: x.bundle.Renderer.Template().Name, Chat: x.story.ChatOptions()})
	if err != nil {
		return fmt.Errorf("what was written cannot be read: %w", err)
	}
	if got, want := back.Tokenizer.Hash(), x.bundle.Tokenizer.Hash(); got != want {
		return fmt.Errorf("what was written has the tokenizer %.8s, want %.8s", got, want)
	}
	if got, want := back.Model.Hash(), x.bundle.Model.Hash(); x.options.Type == TypeF32 && got != want {
		return fmt.Errorf("what was written has the tensors %.8s, want %.8s", got, want)
	}
	x.result.Stored = back.Weights().ID
	if x.result.Stored != x.moment.Weights {
		x.note("The weights in this file have the id %s, those of the run %s: %s.", x.result.Stored, x.moment.Weights, x.why())
	}
	if got, want := back.Renderer.ID(), x.bundle.Renderer.ID(); got != want {
		x.note("A reader of the file ends replies at other tokens than the run did: the format names ends of replies by token names as well.")
	}
	return nil
}

func writeFile(path string, write func(*bufio.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
