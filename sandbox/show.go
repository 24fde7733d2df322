package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shown makes the arguments by which bubblewrap shows a command what it may read, and says where its program is in there.
func shown(spec CommandSpec) (arguments []string, program string, err error) {
	program, err = filepath.EvalSymlinks(spec.Program)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrStart, err)
	}
	a := []string{"--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"}
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		info, err := os.Lstat(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrStart, err)
		}
		if info.Mode()&os.ModeSymlink == 0 {
			a = append(a, "--ro-bind", dir, dir)
			continue
		}
		target, err := os.Readlink(dir)
		if err != nil {
			return nil, "", fmt.Errorf("%w: %w", ErrStart, err)
		}
		a = append(a, "--symlink", target, dir)
	}
	for _, name := range append(prefix(program), spec.Show...) {
		a = append(a, "--ro-bind", name, name)
	}
	return a, program, nil
}

// prefix lists what a program outside the system's directories needs: itself and the libraries beside its directory, as
// prefix/bin/python has prefix/lib. It is not the whole prefix, which may be somebody's home.
func prefix(program string) []string {
	for _, dir := range []string{"/usr/", "/bin/", "/sbin/"} {
		if strings.HasPrefix(program, dir) {
			return nil
		}
	}
	names := []string{program}
	if dir := filepath.Dir(program); filepath.Base(dir) == "bin" {
		for _, lib := range []string{"lib", "lib64"} {
			name := filepath.Join(filepath.Dir(dir), lib)
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				names = append(names, name)
			}
		}
	}
	return names
}
