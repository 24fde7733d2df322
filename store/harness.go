package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

const harnessDir = "harness"

// PutHarness keeps a harness's source under its id and its language's extension (".star"), once: an equal source again does nothing, a
// different one under the same id is an [ErrConflict].
func (r *Run) PutHarness(id, ext string, src []byte) error {
	if r.lock == nil {
		return fmt.Errorf("%s: run is opened %w", r.dir, ErrReadOnly)
	}
	old, err := r.Harness(id, ext)
	switch {
	case errors.Is(err, ErrNotFound):
		return replaceFile(r.root, harnessPath(id, ext), writeBytes(src))
	case err != nil:
		return err
	case !bytes.Equal(old, src):
		return fmt.Errorf("%s: %w", filepath.Join(r.dir, harnessPath(id, ext)), ErrConflict)
	}
	return nil
}

// Harness returns the source of a harness, an [ErrNotFound] when there is none under that id and extension.
func (r *Run) Harness(id, ext string) ([]byte, error) {
	if err := checkID(id + ext); err != nil {
		return nil, err
	}
	src, err := r.root.ReadFile(harnessPath(id, ext))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("harness %q: %w", id, ErrNotFound)
	}
	return src, classify(filepath.Join(r.dir, harnessPath(id, ext)), err)
}

func harnessPath(id, ext string) string { return path.Join(harnessDir, id+ext) }

// checkID refuses ids that cannot be a file name everywhere: they become part of paths.
func checkID(id string) error {
	ok := id != "" && len(id) <= 128 && !strings.HasPrefix(id, ".") && !strings.HasPrefix(id, "-")
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("._+=@-", c) >= 0:
		default:
			ok = false
		}
	}
	if !ok {
		return fmt.Errorf("id: got %q, want 1 to 128 letters, digits or ._+=@- that do not begin with . or -: %w", clip(id), ErrPath)
	}
	return nil
}
