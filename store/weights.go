package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

const (
	weightsDir = "weights"
	doneName   = "DONE"
)

var errNotRegular = errors.New("not a regular file")

// doneFile is the content of DONE, which is written last: a weights directory without it is not there.
type doneFile struct {
	Files []doneEntry `json:"files"`
}

type doneEntry struct {
	Name   string `json:"name"` // slash-separated, relative to the weights directory
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// WriteWeights keeps a directory of files under weights/<id>. write fills an empty directory; its files are hashed, synced
// and moved into place, and DONE is written last with their sizes and hashes. Writing equal files again under the same id does
// nothing, different ones are an [ErrConflict]; what a killed process left without DONE, and files that are no longer those that DONE
// names, are replaced.
func (r *Run) WriteWeights(id string, write func(dir string) error) error {
	staged, err := r.StageWeights(id, write)
	if err != nil {
		return err
	}
	return staged.Seal()
}

// StagedWeights are files that are written and not yet in place. They must be sealed.
type StagedWeights struct {
	run      *Run
	id, temp string
}

// StageWeights is the first half of [Run.WriteWeights]: after it, what write wrote from may change again. [StagedWeights.Seal] is the
// other, which may run beside other work; until it returned nil there are no such weights.
func (r *Run) StageWeights(id string, write func(dir string) error) (_ *StagedWeights, err error) {
	if r.lock == nil {
		return nil, fmt.Errorf("%s: run is opened %w", r.dir, ErrReadOnly)
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	s := &StagedWeights{run: r, id: id, temp: path.Join(scratchName, scratchID(id))}
	if err := r.root.MkdirAll(s.temp, 0o755); err != nil {
		return nil, classify(s.where(), err)
	}
	if err := write(filepath.Join(r.dir, s.temp)); err != nil {
		_ = r.root.RemoveAll(s.temp)
		return nil, classify(s.where(), err)
	}
	return s, nil
}

func (s *StagedWeights) where() string { return filepath.Join(s.run.dir, weightsDir, s.id) }

// Seal hashes and syncs the files, moves them into place and writes DONE.
func (s *StagedWeights) Seal() error {
	r, id, where := s.run, s.id, s.where()
	defer func() { _ = r.root.RemoveAll(s.temp) }() // gone already when all went well
	done, err := r.seal(s.temp)
	if err != nil {
		return classify(where, err)
	}
	switch err := r.VerifyWeights(id); {
	case err == nil:
		old, err := r.readDone(id)
		if err == nil && !slices.Equal(old.Files, done.Files) {
			err = fmt.Errorf("%s: %w", where, ErrConflict)
		}
		return err
	case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrCorrupt):
		return err
	}
	if err := r.RemoveWeights(id); err != nil {
		return err
	}
	if err := r.root.MkdirAll(weightsDir, 0o755); err != nil {
		return classify(where, err)
	}
	rel := path.Join(weightsDir, id)
	if err := r.root.Rename(s.temp, rel); err != nil {
		return classify(where, err)
	}
	if err := syncRootDir(r.root, weightsDir); err != nil {
		return classify(where, err)
	}
	text, err := json.MarshalIndent(done, "", "  ")
	if err != nil {
		return classify(where, err)
	}
	return replaceFile(r.root, path.Join(rel, doneName), writeBytes(append(text, '\n')))
}

// Weights returns the directory of complete weights, and whether they are there: DONE exists and all files have the size it
// says. [Run.VerifyWeights] also checks their content.
func (r *Run) Weights(id string) (dir string, ok bool) {
	done, err := r.readDone(id)
	if err != nil {
		return "", false
	}
	for _, e := range done.Files {
		info, err := r.root.Lstat(path.Join(weightsDir, id, e.Name))
		if err != nil || !info.Mode().IsRegular() || info.Size() != e.Size {
			return "", false
		}
	}
	return filepath.Join(r.dir, weightsDir, id), true
}

// VerifyWeights reads all files of weights and compares them with DONE: [ErrNotFound] when there is no DONE, [ErrCorrupt]
// when a file is missing, differs, or is one too many.
func (r *Run) VerifyWeights(id string) error {
	done, err := r.readDone(id)
	if err != nil {
		return err
	}
	rel := path.Join(weightsDir, id)
	got, err := r.hashFiles(rel)
	if errors.Is(err, errNotRegular) {
		return fmt.Errorf("%s: %w: %w", filepath.Join(r.dir, rel), ErrCorrupt, err)
	}
	if err != nil {
		return classify(filepath.Join(r.dir, rel), err)
	}
	got = slices.DeleteFunc(got, func(e doneEntry) bool { return e.Name == doneName })
	if len(got) != len(done.Files) {
		return fmt.Errorf("%s: %w: got %d files, want %d", filepath.Join(r.dir, rel), ErrCorrupt, len(got), len(done.Files))
	}
	for i, want := range done.Files {
		if got[i] != want {
			return fmt.Errorf("%s: %w: got %s of %d bytes and hash %.12s, want %s of %d bytes and hash %.12s", filepath.Join(r.dir, rel),
				ErrCorrupt, got[i].Name, got[i].Size, got[i].SHA256, want.Name, want.Size, want.SHA256)
		}
	}
	return nil
}

// ListWeights returns the ids of all complete weights, sorted.
func (r *Run) ListWeights() ([]string, error) {
	entries, err := fs.ReadDir(r.root.FS(), weightsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, classify(filepath.Join(r.dir, weightsDir), err)
	}
	var ids []string
	for _, e := range entries {
		if _, ok := r.Weights(e.Name()); ok {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// RemoveWeights deletes weights; DONE goes first, so that a kill leaves none instead of half. Removing what is not there is
// no error.
func (r *Run) RemoveWeights(id string) error {
	if r.lock == nil {
		return fmt.Errorf("%s: run is opened %w", r.dir, ErrReadOnly)
	}
	if err := checkID(id); err != nil {
		return err
	}
	rel := path.Join(weightsDir, id)
	where := filepath.Join(r.dir, rel)
	err := r.root.Remove(path.Join(rel, doneName))
	if err == nil {
		err = syncRootDir(r.root, rel)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return classify(where, err)
	}
	if err := r.root.RemoveAll(rel); err != nil {
		return classify(where, err)
	}
	if err := syncRootDir(r.root, weightsDir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return classify(where, err)
	}
	return nil
}

// clearUndone removes what a kill left of weights that were being written or removed: folders without a DONE.
func (r *Run) clearUndone() error {
	entries, err := fs.ReadDir(r.root.FS(), weightsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return classify(filepath.Join(r.dir, weightsDir), err)
	}
	for _, e := range entries {
		if checkID(e.Name()) != nil {
			continue // not ours
		}
		_, err := r.root.Lstat(path.Join(weightsDir, e.Name(), doneName))
		if errors.Is(err, fs.ErrNotExist) {
			if err := r.RemoveWeights(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Run) readDone(id string) (doneFile, error) {
	if err := checkID(id); err != nil {
		return doneFile{}, err
	}
	name := path.Join(weightsDir, id, doneName)
	text, err := r.root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return doneFile{}, fmt.Errorf("weights %q: %w", id, ErrNotFound)
	}
	if err != nil {
		return doneFile{}, classify(filepath.Join(r.dir, name), err)
	}
	var done doneFile
	if err := json.Unmarshal(text, &done); err != nil {
		return doneFile{}, fmt.Errorf("%s: %w: %w", filepath.Join(r.dir, name), ErrCorrupt, err)
	}
	for _, e := range done.Files {
		if !filepath.IsLocal(filepath.FromSlash(e.Name)) {
			return doneFile{}, fmt.Errorf("%s: %w: file name %q", filepath.Join(r.dir, name), ErrCorrupt, e.Name)
		}
	}
	return done, nil
}

// seal hashes and syncs everything below rel.
func (r *Run) seal(rel string) (doneFile, error) {
	files, err := r.hashFiles(rel)
	if err != nil {
		return doneFile{}, err
	}
	for _, e := range files {
		if e.Name == doneName {
			return doneFile{}, fmt.Errorf("the name %s is the store's", doneName)
		}
	}
	err = fs.WalkDir(r.root.FS(), rel, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncRootDir(r.root, name) // files sync the same way
	})
	return doneFile{Files: files}, err
}

// hashFiles lists the regular files below rel by name; anything else there is an error.
func (r *Run) hashFiles(rel string) ([]doneEntry, error) {
	files := []doneEntry{}
	err := fs.WalkDir(r.root.FS(), rel, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is %w", name, errNotRegular)
		}
		e, err := hashFile(r.root, name)
		if err != nil {
			return err
		}
		e.Name, err = filepath.Rel(rel, name)
		e.Name = filepath.ToSlash(e.Name)
		files = append(files, e)
		return err
	})
	return files, err
}

func hashFile(root *os.Root, name string) (doneEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return doneEntry{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return doneEntry{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}
