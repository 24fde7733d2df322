package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// scratchName is where files are written before they are renamed into place. Open empties it.
const scratchName = ".tmp"

// WriteFile writes a file of the run, rel being slash-separated and relative to its directory, whole or not at all: the
// data is synced under another name, renamed, and the directory synced. Folders are made as needed. A path that leaves the
// run directory, passes through a symbolic link, or names a file that the store keeps itself is an [ErrPath].
func (r *Run) WriteFile(rel string, data []byte) error {
	return r.WriteFrom(rel, writeBytes(data))
}

// WriteFrom is [Run.WriteFile] for data that write produces. When write fails nothing changes and its error is returned.
func (r *Run) WriteFrom(rel string, write func(io.Writer) error) error {
	if r.lock == nil {
		return fmt.Errorf("%s: run is opened %w", r.dir, ErrReadOnly)
	}
	rel, err := r.checkPath(rel)
	if err != nil {
		return err
	}
	return replaceFile(r.root, rel, write)
}

// ReadFile reads a file of the run. A missing one is an [ErrNotFound].
func (r *Run) ReadFile(rel string) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return nil, fmt.Errorf("%s: %w: it leaves the run directory", rel, ErrPath)
	}
	data, err := r.root.ReadFile(filepath.FromSlash(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.dir, rel), ErrNotFound)
	}
	return data, classify(filepath.Join(r.dir, rel), err)
}

// checkPath cleans a path to write to. [os.Root] keeps every access inside the run; the checks here also keep callers off
// the store's own files and off links that somebody (a proposer in its workspace) may have left.
func (r *Run) checkPath(rel string) (string, error) {
	if rel == "" || strings.ContainsRune(rel, 0) || !filepath.IsLocal(filepath.FromSlash(rel)) {
		return "", fmt.Errorf("%q: %w: want a path inside the run directory", rel, ErrPath)
	}
	clean := path.Clean(filepath.ToSlash(rel))
	top, _, _ := strings.Cut(clean, "/")
	switch {
	case clean == ".", top == scratchName, top == trajectoryDir, top == weightsDir, top == harnessDir, top == lockName,
		top == configName, strings.HasPrefix(top, journalName):
		return "", fmt.Errorf("%q: %w: the store keeps %s itself", rel, ErrPath, top)
	}
	for i, c := range clean + "/" {
		if c != '/' {
			continue
		}
		info, err := r.root.Lstat(clean[:i])
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", classify(filepath.Join(r.dir, rel), err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%q: %w: %s is a symbolic link", rel, ErrPath, clean[:i])
		}
	}
	return clean, nil
}

func writeBytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// replaceFile puts what write produces in the place of rel, atomically and durably.
func replaceFile(root *os.Root, rel string, write func(io.Writer) error) (err error) {
	where := filepath.Join(root.Name(), rel)
	if err := makeDirs(root, path.Dir(rel)); err != nil {
		return classify(where, err)
	}
	temp := path.Join(scratchName, scratchID(path.Base(rel)))
	if err := root.MkdirAll(scratchName, 0o755); err != nil {
		return classify(where, err)
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return classify(where, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			_ = root.Remove(temp)
		}
	}()
	sink := &failNoter{w: f}
	if err := write(sink); err != nil {
		if sink.err != nil {
			return classify(where, sink.err) // the disk failed, not the caller
		}
		return fmt.Errorf("%s: %w", where, err)
	}
	if sink.err != nil {
		return classify(where, sink.err) // write ignored it
	}
	if err := f.Sync(); err != nil {
		return classify(where, err)
	}
	if err := f.Close(); err != nil {
		return classify(where, err)
	}
	if err := root.Rename(temp, rel); err != nil {
		return classify(where, err)
	}
	return classify(where, syncRootDir(root, path.Dir(rel)))
}

// failNoter remembers the first error of the file below, whatever the code in between makes of it.
type failNoter struct {
	w   io.Writer
	err error
}

func (f *failNoter) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil && f.err == nil {
		f.err = err
	}
	return n, err
}

// makeDirs makes rel and its parents, and syncs each directory that gained an entry.
func makeDirs(root *os.Root, rel string) error {
	if rel == "." {
		return nil
	}
	err := root.Mkdir(rel, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDirs(root, path.Dir(rel)); err != nil {
			return err
		}
		err = root.Mkdir(rel, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		info, statErr := root.Lstat(rel)
		if statErr != nil {
			return statErr
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a directory", rel)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return syncRootDir(root, path.Dir(rel))
}

// scratchID is a name nobody else uses in the scratch directory; it decides nothing, so it may be random.
func scratchID(base string) string {
	if len(base) > 100 {
		base = base[:100]
	}
	return base + "." + rand.Text()
}

// clearScratch removes what a killed process left in the scratch directory.
func (r *Run) clearScratch() error {
	where := filepath.Join(r.dir, scratchName)
	if err := r.root.RemoveAll(scratchName); err != nil {
		return classify(where, err)
	}
	return classify(where, r.root.MkdirAll(scratchName, 0o755))
}

func syncRootDir(root *os.Root, rel string) error {
	d, err := root.Open(rel)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return classify(dir, err)
	}
	defer d.Close()
	return classify(dir, d.Sync())
}
