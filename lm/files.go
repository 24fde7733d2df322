package lm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	err = replaceFile(filepath.Join(dir, weightsFile), func(w io.Writer) error {
		// transformers wants to know which framework's layout the tensors have.
		return m.WriteSafetensors(w, dtype, map[string]string{"format": "pt"})
	})
	if err == nil {
		err = replaceFile(filepath.Join(dir, configFile), func(w io.Writer) error {
			_, err := w.Write(cfg)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("save model: %w", err)
	}
	return nil
}

// replaceFile writes path through a temporary file in the same directory.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	buf := bufio.NewWriterSize(f, 1<<16)
	err = write(buf)
	if err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
