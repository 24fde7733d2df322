package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// executed returns the files that a start of this program maps: itself, and where it is not static the loader and the libraries that
// it has loaded.
func executed() ([]string, error) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	files := []string{"/proc/self/exe"}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(maps) {
		i := bytes.IndexByte(line, '/')
		if i < 0 {
			continue
		}
		name := strings.TrimSuffix(string(line), "\n")[i:]
		if name != self && !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	if len(files) > 1 {
		if _, err := os.Stat(loaderCache); err == nil {
			files = append(files, loaderCache)
		}
	}
	return files, nil
}

// emptyRootProgram is where this program is after leaveFiles.
const emptyRootProgram = "/worker"

// loaderCache is where the loader looks up in which place a library is; not every system has one.
const loaderCache = "/etc/ld.so.cache"

// libraries are the places where loaders look for libraries.
var libraries = []string{"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64"}

// leaveFiles makes an empty file system the root of this mount namespace. It holds, read-only, this program (open as program) and, where that is
// not static, the libraries. shown is false where the program has no place there since its file has no name any more (see thisProgram).
func leaveFiles(files []string, program int) (shown bool, err error) {
	dynamic := len(files) > 1
	for _, name := range files[1:] {
		if name != loaderCache && !slices.ContainsFunc(libraries, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
			return false, fmt.Errorf("loads %s, which is in none of %s", name, strings.Join(libraries, ", "))
		}
	}
	// Nothing that happens here may spread to the system's name space.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return false, fmt.Errorf("make the mounts private: %w", err)
	}
	const base = "/tmp" // any directory will do: it is only covered in this name space
	if err := unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k,mode=755"); err != nil {
		return false, fmt.Errorf("mount an empty file system: %w", err)
	}
	switch err := bindFile(fmt.Sprintf("/proc/self/fd/%d", program), base+emptyRootProgram); {
	case err == nil:
		shown = true
	case errors.Is(err, unix.EINVAL): // it was opened in another mount namespace
		if err := os.Remove(base + emptyRootProgram); err != nil {
			return false, err
		}
	default:
		return false, err
	}
	if dynamic {
		if err := bindLibraries(base); err != nil {
			return false, err
		}
	}
	if slices.Contains(files, loaderCache) {
		if err := bindFile(loaderCache, base+loaderCache); err != nil {
			return false, err
		}
	}
	return shown, changeRoot(base)
}

func bindLibraries(base string) error {
	for _, dir := range libraries {
		info, err := os.Lstat(dir)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(base+filepath.Dir(dir), 0o755); err != nil {
			return err
		}
		if info.Mode()&os.ModeSymlink != 0 { // /lib is often one to usr/lib
			target, err := os.Readlink(dir)
			if err != nil {
				return err
			}
			if err := os.Symlink(target, base+dir); err != nil {
				return err
			}
			continue
		}
		if err := os.Mkdir(base+dir, 0o755); err != nil {
			return err
		}
		if err := bind(dir, base+dir); err != nil {
			return err
		}
	}
	return nil
}

// bindFile shows a file where there is none yet.
func bindFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(to, nil, 0o755); err != nil {
		return err
	}
	return bind(from, to)
}

func bind(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("show %s: %w", from, err)
	}
	return nil
}

// changeRoot makes base the root, read-only, and lets go of the old one.
func changeRoot(base string) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, base, unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("make the mounts read-only: %w", err)
	}
	if err := unix.Chdir(base); err != nil {
		return err
	}
	// With both names the same the old root lies under the new one, from where the next call takes it away (pivot_root(2), notes).
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	return unix.Chdir("/")
}
