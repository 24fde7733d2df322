package metaharness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// makeWorkspace makes a proposer's folder anew: what it may see, and an empty folder candidates.
func (r *run) makeWorkspace(dir string) error {
	if r.blind {
		return r.archive.blindWorkspace(dir)
	}
	return copyWorkspace(r.archive.dir, dir)
}

// blindWorkspace shows the incoming harness and what everybody knows, no score and no trajectory. The index names the programs that were
// decided, for a proposer that wants none of them again, and says nothing else of them.
func (a *archive) blindWorkspace(dir string) error {
	if err := emptyWorkspace(dir); err != nil {
		return err
	}
	start := a.entries[0]
	home := filepath.Join("harnesses", string(start.ID))
	for _, sub := range []string{home, candidatesDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return fmt.Errorf("workspace: %w", err)
		}
	}
	var index bytes.Buffer
	for i, e := range a.entries {
		l := IndexLine{ID: e.ID, Name: e.Name, Status: statusHidden, Session: e.Session}
		if i == 0 {
			l.Status, l.Mean = StatusEvaluated, new(float64) // not its score: the format asks for a number
		}
		line, err := encode(l, "")
		if err != nil {
			return fmt.Errorf("workspace: index: %w", err)
		}
		index.Write(line)
	}
	files := []file{{"index.jsonl", index.Bytes()}, {filepath.Join(home, "harness.star"), []byte(start.Source)}}
	for _, name := range []string{"README.md", "library.json"} {
		data, err := os.ReadFile(filepath.Join(a.dir, name))
		if err != nil {
			return fmt.Errorf("workspace: %w", err)
		}
		files = append(files, file{name, data})
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return fmt.Errorf("workspace: %w", err)
		}
	}
	return nil
}

// statusHidden stands in a blind workspace for whatever became of a program.
const statusHidden Status = "hidden"

// emptyWorkspace removes what a killed attempt left.
func emptyWorkspace(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("workspace: got %q, want an absolute path", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return nil
}

// copyWorkspace shows a copy of the archive, so that nothing that the proposer does to it reaches the archive.
func copyWorkspace(archiveDir, dir string) error {
	if err := emptyWorkspace(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	if err := os.CopyFS(dir, os.DirFS(archiveDir)); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	if err := os.Mkdir(filepath.Join(dir, candidatesDir), 0o755); err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	return nil
}
