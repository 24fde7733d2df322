package evolve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// workspace is what a session knows.
type workspace struct {
	about    string
	lib      *catalogue
	index    []metaharness.IndexLine
	programs []archived        // evaluated programs, in order of the index
	seen     map[whale.ID]bool // every program of the index, rejected ones included
	known    map[string]bool   // names that programs may take from outside
}

// archived is an evaluated program.
type archived struct {
	line    metaharness.IndexLine
	source  string
	program *program // nil where this package cannot edit it
}

func readWorkspace(dir string) (*workspace, error) {
	files := os.DirFS(dir)
	w := &workspace{seen: map[whale.ID]bool{}, known: map[string]bool{}}
	readme, err := fs.ReadFile(files, "README.md")
	if err != nil {
		return nil, err
	}
	w.about = section(string(readme), "## The task")
	library, err := fs.ReadFile(files, "library.json")
	if err != nil {
		return nil, err
	}
	if w.lib, err = readCatalogue(library); err != nil {
		return nil, err
	}
	for _, name := range w.lib.moduleNames() {
		w.known[name] = true
	}
	if w.index, err = readLines[metaharness.IndexLine](files, "index.jsonl"); err != nil {
		return nil, err
	}
	for _, line := range w.index {
		w.seen[line.ID] = true
		if line.Status != metaharness.StatusEvaluated || line.Mean == nil {
			continue
		}
		if err := w.addProgram(files, line); err != nil {
			return nil, err
		}
	}
	if len(w.programs) == 0 {
		return nil, errors.New("index.jsonl: got no evaluated program, want at least one")
	}
	return w, nil
}

func (w *workspace) addProgram(files fs.FS, line metaharness.IndexLine) error {
	source, err := fs.ReadFile(files, path.Join("harnesses", string(line.ID), "harness.star"))
	if err != nil {
		return err
	}
	a := archived{line: line, source: string(source)}
	if p, err := parse(a.source, w.lib); err == nil {
		a.program = p
		if free, err := freeNames(a.source); err == nil { // it was run, so what it takes from outside exists
			maps.Copy(w.known, free)
		}
	}
	w.programs = append(w.programs, a)
	return nil
}

func readTrajectories(dir string, id whale.ID) ([]metaharness.Trajectory, error) {
	return readLines[metaharness.Trajectory](os.DirFS(dir), path.Join("harnesses", string(id), "trajectories.jsonl"))
}

func readLines[T any](files fs.FS, name string) ([]T, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	var out []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, v)
	}
	return out, lines.Err()
}

// section gives the text under a heading, up to the next heading of its level.
func section(text, heading string) string {
	_, rest, ok := strings.Cut(text, heading+"\n")
	if !ok {
		return ""
	}
	body, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(body)
}
