package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// confine limits this process, which is a worker that has not read a request yet. Soft and hard limits are the same,
// so nothing short of a privileged system call gets them back.
func confine(memory int64) error {
	if err := closeInherited(); err != nil {
		return err
	}
	used, err := dataSize()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"file size", unix.RLIMIT_FSIZE, 0}, // pipes do not count
		{"data", unix.RLIMIT_DATA, uint64(used + memory)},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("limit of %s: %w", l.name, err)
		}
	}
	return nil
}

// dataSize returns the bytes of writable private memory of this process, which is what RLIMIT_DATA counts.
func dataSize() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		rest, ok := strings.CutPrefix(string(line), "VmData:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/self/status: VmData: %w", err)
		}
		return kib << 10, nil
	}
	return 0, fmt.Errorf("/proc/self/status: no VmData")
}

// closeInherited closes whatever the parent's parent left open across exec. What the Go runtime opened for itself stays:
// its poller and the control group files from which it reads the processor limit.
func closeInherited() error {
	const dir = "/proc/self/fd"
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= 2 || fd == int(d.Fd()) {
			continue
		}
		target, err := os.Readlink(filepath.Join(dir, name))
		if err != nil || strings.HasPrefix(target, "anon_inode:") || strings.HasPrefix(target, "/sys/fs/cgroup/") {
			continue
		}
		if err := syscall.Close(fd); err != nil {
			return fmt.Errorf("inherited descriptor %d (%s): %w", fd, target, err)
		}
	}
	return nil
}
