package metaharness

import (
	"fmt"
	"os"
	"path/filepath"
)

// makeWorkspace makes a proposer's folder anew: a copy of the archive and an empty folder candidates. It is a copy, so that nothing
// that the proposer does to it reaches the archive.
func makeWorkspace(archiveDir, dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("workspace: got %q, want an absolute path", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("workspace: %w", err)
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
