package lm

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// The files of a model directory, as Hugging Face names them.
const (
	configFile     = "config.json"
	weightsFile    = "model.safetensors"
	indexFile      = "model.safetensors.index.json"
	generationFile = "generation_config.json"
)

// Save writes config.json and model.safetensors to dir, which it makes if need be.
// Each file is replaced whole or not at all (written aside, synced, renamed), the
// weights first.
func (m *Model) Save(dir string, dtype DType) error {
	cfg, err := m.cfg.encode(dtype)
	if err != nil {
		return fmt.Errorf("save model: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save model: %w", err)
	}
	err = ReplaceFile(filepath.Join(dir, weightsFile), func(w io.Writer) error {
		// transformers wants to know which framework's layout the tensors have.
		return m.WriteSafetensors(w, dtype, map[string]string{"format": "pt"})
	})
	if err == nil {
		err = ReplaceFile(filepath.Join(dir, configFile), func(w io.Writer) error {
			_, err := w.Write(cfg)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("save model: %w", err)
	}
	return nil
}

// ReplaceFile writes a file of a model folder through a temporary file in the same directory: whoever reads path finds the old content or the new one.
func ReplaceFile(path string, write func(io.Writer) error) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	buf := bufio.NewWriterSize(f, 1<<16)
	if err := write(buf); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
