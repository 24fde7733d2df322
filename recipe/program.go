package recipe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/store"
)

// Program is a harness program as it lies in a file; [Parts.Harness] makes it run.
type Program struct {
	Name   string // its extension says the language; positions in messages begin with it
	Source []byte
}

// LoadProgram reads a harness program from a file.
func LoadProgram(path string) (Program, error) {
	src, err := harness.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return Program{}, &InputError{fmt.Errorf("harness %s: no such file, want the path of a program", path)}
	}
	if err != nil {
		return Program{}, &InputError{err}
	}
	return Program{Name: filepath.Base(path), Source: src}, nil
}

// Harness makes a program run in processes of its own. It must pass the static gates.
func (p *Parts) Harness(prog Program) (whale.Harness, error) {
	h, err := p.harnesses.New(prog.Name, prog.Source)
	if err != nil {
		return nil, &InputError{fmt.Errorf("harness %s: %w", prog.Name, err)}
	}
	return h, nil
}

// storedProgram gives a program by its id: the run directory's copy, or where that is missing or not what its name says, the journal's.
func storedProgram(s *store.Run, id whale.ID, journaled []byte) (Program, error) {
	for _, language := range harness.Languages() {
		ext := harness.Extension(language)
		name := id.Short() + ext
		if src, err := s.Harness(string(id), ext); err == nil && whale.HarnessIDIn(language, src) == id {
			return Program{name, src}, nil
		}
		if whale.HarnessIDIn(language, journaled) == id {
			return Program{name, journaled}, nil
		}
	}
	return Program{}, fmt.Errorf("%s: harness/%s is missing or was changed, and the journal has no copy; put the program of that id back", s.Dir(), id)
}

// stored makes a harness of the run directory's copy of a program. Its name there stands in the messages of failed episodes, which proposers
// read, and they must read the same after a kill.
func (r *Run) stored(id whale.ID, journaled []byte) (whale.Harness, error) {
	prog, err := storedProgram(r.store, id, journaled)
	if err != nil {
		return nil, err
	}
	return r.Parts.Harness(prog)
}

// putHarness keeps a program in the run directory.
func putHarness(s *store.Run, h whale.Harness) error {
	err := s.PutHarness(string(h.ID()), harness.Extension(h.Language()), h.Source())
	if errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("%w: the file was changed; remove it, and the run writes it again", err)
	}
	return err
}
