package sandbox

import (
	"bytes"
	"errors"
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
	space, data, err := memoryUse()
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
		// The runtime reserves address space for each piece of heap before it maps it, so this one stops a single huge
		// allocation. The next one alone does not: pages mapped over a reservation are not checked against it (Linux
		// mmap_region counts only the pages that were not mapped before, readable or not).
		{"address space", unix.RLIMIT_AS, uint64(space + memory)},
		// This one keeps the large reservations that the runtime makes at its start from being filled.
		{"data", unix.RLIMIT_DATA, uint64(data + memory)},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("limit of %s: %w", l.name, err)
		}
	}
	return nil
}

// memoryUse returns the bytes of address space and of writable private memory of this process, which are what RLIMIT_AS
// and RLIMIT_DATA count.
func memoryUse() (space, data int64, err error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0, err
	}
	for line := range bytes.Lines(status) {
		name, rest, _ := strings.Cut(string(line), ":")
		var into *int64
		switch name {
		case "VmSize":
			into = &space
		case "VmData":
			into = &data
		default:
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/self/status: %s: %w", name, err)
		}
		*into = kib << 10
	}
	if space == 0 || data == 0 {
		return 0, 0, errors.New("/proc/self/status: no VmSize or VmData")
	}
	return space, data, nil
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
