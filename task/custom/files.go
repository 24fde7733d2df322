package custom

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale/task"
)

// readRegular reads a file of bounded size. What is no regular file (a pipe, a device) is refused, since reading it might never end.
func readRegular(name string, most int64) ([]byte, error) {
	if err := regular(name); err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s: got more than %d bytes", name, most)
	}
	return data, nil
}

// regular reports a path that is no regular file, links followed.
func regular(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("got no regular file")}
	}
	return nil
}

// within reads a file of a folder. One that a link leads out of the folder is refused: it would not travel with it.
func within(folder, name string, most int64) ([]byte, error) {
	if err := localPath(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, name), reason(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: got no regular file", filepath.Join(folder, name))
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%s: got more than %d bytes", filepath.Join(folder, name), most)
	}
	return data, nil
}

// reason is an error of the file system without the path, which the caller tells.
func reason(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return e.Err
	}
	return err
}

// dataRoot is the folder of the data files.
func dataRoot(folder string, d DataConfig, getenv func(string) string) (string, error) {
	if d.RootEnv == "" {
		if filepath.IsAbs(d.Root) {
			return d.Root, nil
		}
		return filepath.Join(folder, d.Root), nil
	}
	dir := getenv(d.RootEnv)
	if dir == "" {
		return "", &task.AwayError{Err: fmt.Errorf("data.root_env: the environment variable %s is not set, want the folder of the data files", d.RootEnv)}
	}
	return filepath.Join(dir, d.Root), nil
}
