package custom

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed skeleton
var skeleton embed.FS

var notInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Scaffold writes a task that works into a folder that is empty or not there yet, and gives the paths of the files. Nothing is overwritten.
func Scaffold(folder string) ([]string, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("custom: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("custom: %s: got a folder with %d entries, want an empty one or none", folder, len(entries))
	}
	name := strings.Trim(notInName.ReplaceAllString(filepath.Base(abs), "-"), ".-_")
	if name = name[:min(len(name), 64)]; !taskName.MatchString(name) {
		name = "task"
	}
	var written []string
	err = fs.WalkDir(skeleton, "skeleton", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(folder, filepath.FromSlash(strings.TrimPrefix(path, "skeleton")))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := skeleton.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(strings.ReplaceAll(string(data), "NAME", name))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		written = append(written, to)
		return nil
	})
	if err != nil {
		return written, fmt.Errorf("custom: %w", err)
	}
	return written, nil
}
