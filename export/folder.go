package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-095d5d2b/whale/store"
)

// maxConfig bounds a run's config.yaml, in bytes; those of real runs have a few thousand.
const maxConfig = 1 << 20

// bounded refuses a run directory whose first files are not what they must be, before anything of it is read.
func bounded(dir string) error {
	for _, f := range []struct {
		name string
		most int64
	}{{"config.yaml", maxConfig}, {"journal.db", 1 << 40}} {
		info, err := os.Lstat(filepath.Join(dir, f.name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // the store says what is missing
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: %w: it is no regular file", filepath.Join(dir, f.name), store.ErrCorrupt)
		case info.Size() > f.most:
			return fmt.Errorf("%s: %w: got %d bytes, want at most %d", filepath.Join(dir, f.name), store.ErrCorrupt, info.Size(), f.most)
		}
	}
	return nil
}

// absent refuses a place that is taken.
func absent(out string) error {
	switch _, err := os.Lstat(out); {
	case err == nil:
		return &OptionError{fmt.Sprintf("%s is there already; name another folder, or remove it", out)}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// seal lists the files, and brings them to the disk before the folder gets its name.
func (x *exporter) seal() error {
	if err := os.Chmod(x.dir, 0o755); err != nil {
		return err
	}
	err := filepath.WalkDir(x.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return syncFolder(path)
		}
		name, err := filepath.Rel(x.dir, path)
		if err != nil {
			return err
		}
		x.result.Files = append(x.result.Files, filepath.ToSlash(name))
		return syncFolder(path) // files sync the same way
	})
	slices.Sort(x.result.Files)
	return err
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
