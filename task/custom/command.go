package custom

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/task/custom/program"
)

// command is a program of the owner's, ready to be run.
type command struct {
	spec program.Spec
	id   whale.ID
	free chan struct{} // one for each run at a time
}

// filesBytes bounds the files of the folder that belong to a command.
const filesBytes = 16 << 20

// openCommand finds a command's program and reads its files.
func openCommand(folder string, c CommandConfig, l Limits, getenv func(string) string) (*command, error) {
	run, files, err := resolve(folder, c.Run, c.Files, getenv)
	if err != nil {
		return nil, err
	}
	env, err := environment(c.Env, c.Sandboxed, getenv)
	if err != nil {
		return nil, err
	}
	spec := program.Spec{
		Args: run, Dir: folder, Env: env, Timeout: seconds(l.Seconds), Output: l.OutputBytes,
		Sandboxed: c.Sandboxed, Memory: int64(l.MemoryMiB) << 20,
	}
	if c.Sandboxed {
		if spec.Memory > sandbox.MaxMemory {
			return nil, fmt.Errorf("limits.memory_mib: got %d, want at most %d of a sandboxed command", l.MemoryMiB, sandbox.MaxMemory>>20)
		}
		if spec.Files, err = sandboxFiles(files); err != nil {
			return nil, err
		}
		for i, arg := range spec.Args {
			name := c.Run[i]
			if _, ok := files[filepath.Clean(name)]; ok {
				arg = sandbox.FilesDir + "/" + filepath.Base(name)
			}
			spec.Args[i] = arg
		}
	}
	return &command{spec: spec, id: commandID(c, l, files), free: make(chan struct{}, l.AtOnce)}, nil
}

// commandID covers the configuration and the files; not where the folder lies, nor what is installed on the machine.
func commandID(c CommandConfig, l Limits, files map[string][]byte) whale.ID {
	hashes := make(map[string]whale.ID, len(files))
	for name, data := range files {
		hashes[name] = whale.HashBytes("custom/file", data)
	}
	return whale.HashOf("custom/command", struct {
		Command CommandConfig
		Limits  Limits
		Files   map[string]whale.ID
	}{c, l, hashes})
}

// resolve gives the program as an absolute path, and the files of the folder that belong to it: those that its arguments name, and those listed.
func resolve(folder string, run, listed []string, getenv func(string) string) (args []string, files map[string][]byte, err error) {
	args = slices.Clone(run)
	files = map[string][]byte{}
	size := 0
	add := func(name string) error {
		name = filepath.Clean(name)
		if _, ok := files[name]; ok {
			return nil
		}
		data, err := within(folder, name, int64(filesBytes-size))
		if err != nil {
			return err
		}
		size += len(data)
		files[name] = data
		return nil
	}
	for i, name := range listed {
		if err := add(name); err != nil {
			return nil, nil, fmt.Errorf("files[%d]: %w", i, err)
		}
	}
	for i, arg := range run {
		if i == 0 && !strings.Contains(arg, "/") || localPath(arg) != nil || regular(filepath.Join(folder, arg)) != nil {
			continue // a name from PATH, an option, a path elsewhere
		}
		if err := add(arg); err != nil {
			return nil, nil, fmt.Errorf("run[%d]: %w", i, err)
		}
	}
	if args[0], err = executable(folder, run[0], getenv("PATH")); err != nil {
		return nil, nil, fmt.Errorf("run[0]: %w", err)
	}
	return args, files, nil
}

// executable finds a program: by its absolute path, in the folder where its name has a slash, else along PATH.
func executable(folder, name, path string) (string, error) {
	runs := func(p string) bool {
		info, err := os.Stat(p)
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	}
	if strings.Contains(name, "/") {
		p := name
		if !filepath.IsAbs(p) {
			if err := localPath(name); err != nil {
				return "", err
			}
			p = filepath.Join(folder, name)
		}
		if !runs(p) {
			return "", fmt.Errorf("got %q, which is no file that can be executed", clip(name))
		}
		return p, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if p := filepath.Join(dir, name); filepath.IsAbs(p) && runs(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("got %q, which is in no folder of PATH; a program of this folder is written ./%s", clip(name), clip(name))
}

// environment is all that a program gets. A variable that is named but not set is an error, which does not tell any value.
func environment(names []string, sandboxed bool, getenv func(string) string) ([]string, error) {
	env := []string{"LANG=C.UTF-8"}
	if sandboxed {
		env = append(env, "PATH=/usr/bin:/bin")
	} else {
		for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
			if v := getenv(name); v != "" {
				env = append(env, name+"="+v)
			}
		}
	}
	for _, name := range names {
		v := getenv(name)
		if v == "" {
			return nil, fmt.Errorf("env: the environment variable %s is not set", name)
		}
		env = append(env, name+"="+v)
	}
	return env, nil
}

// sandboxFiles are the files by their last names, which is how they appear.
func sandboxFiles(files map[string][]byte) ([]sandbox.File, error) {
	const most = 32 // as the sandbox
	if len(files) > most {
		return nil, fmt.Errorf("files: got %d, want at most %d for a sandboxed command", len(files), most)
	}
	var out []sandbox.File
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		base := filepath.Base(name)
		if other, ok := seen[base]; ok {
			return nil, fmt.Errorf("files: got %s and %s, which have the same name in %s", other, name, sandbox.FilesDir)
		}
		seen[base] = name
		out = append(out, sandbox.File{Name: base, Data: files[name]})
	}
	return out, nil
}

// run waits for its turn and runs the program once.
func (c *command) run(ctx context.Context, stdin []byte) (program.Output, error) {
	select {
	case c.free <- struct{}{}:
	case <-ctx.Done():
		return program.Output{}, ctx.Err()
	}
	defer func() { <-c.free }()
	return program.Run(ctx, c.spec, stdin)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
