package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A worker becomes confined in two stages, because landlock and capabilities belong to threads and a Go program has several as soon as it runs:
//
//  1. The first stage has its namespaces from birth. On one thread it leaves the file system, gives up its capabilities, enters a
//     landlock domain, and executes itself again, which leaves one thread, and that one so confined.
//  2. The second stage, whose threads all inherit that, sets its memory limits (which count from what the runtime has taken by
//     then) and puts all threads under the filter of system calls, which the kernel does at once. Only then it reads requests.

// statusFD is where the second stage finds its own /proc/self/status, which it could not open itself.
const statusFD = 3

// partFiles is the part of the namespaces that a system may refuse while it grants the rest; a test can leave it out.
const partFiles = "files"

// enter runs the first stage, which does not come back unless something fails; in the second it does nothing.
func enter(s stage) error {
	if s.Second {
		return nil
	}
	runtime.LockOSThread() // until exec
	files, err := executed()
	if err != nil {
		return err
	}
	if err := openStatus(); err != nil {
		return err
	}
	// Whatever the parent's parent left open ends here. What this runtime opened for itself is closed on exec anyway.
	if err := closeInherited(statusFD + 1); err != nil {
		return err
	}
	program, err := unix.Open(runningFile, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", runningFile, err)
	}
	name := runningFile // where it is; "" = nowhere
	switch {
	case s.leavesOut(MechanismNamespaces):
		s.Namespaces = switchedOff
	case s.Namespaces == "":
		shown, err := false, mapUser(s.Parent, nobody)
		if err == nil && !s.leavesOut(partFiles) {
			shown, err = leaveFiles(files, program)
		} else if err == nil {
			err = errors.New(switchedOff)
		}
		switch {
		case err != nil:
			s.Root = err.Error()
		case shown:
			name = emptyRootProgram
		default:
			name = ""
		}
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	if s.leavesOut(MechanismLandlock) {
		s.Landlock = switchedOff
	} else if s.LandlockVersion, err = landlockThread(files[1:], program); err != nil {
		s.Landlock = err.Error()
	}
	s.Second = true
	arguments := append([]string{os.Args[0]}, s.arguments()...)
	if name == "" {
		return fmt.Errorf("second stage: %w", execOpen(program, arguments))
	}
	err = syscall.Exec(name, arguments, []string{})
	return fmt.Errorf("second stage: exec %s: %w", name, err)
}

// execOpen becomes the program that is open as a descriptor, without environment.
func execOpen(program int, arguments []string) error {
	argv, err := syscall.SlicePtrFromStrings(arguments)
	if err != nil {
		return err
	}
	noPath, environment := [1]byte{}, []*byte{nil}
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(program), uintptr(unsafe.Pointer(&noPath[0])), uintptr(unsafe.Pointer(&argv[0])),
		uintptr(unsafe.Pointer(&environment[0])), unix.AT_EMPTY_PATH, 0)
	return fmt.Errorf("exec: %w", errno)
}

// openStatus opens /proc/self/status as statusFD, over whatever has been inherited there.
func openStatus() error {
	fd, err := unix.Open("/proc/self/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/proc/self/status: %w", err)
	}
	if fd == statusFD {
		_, err = unix.FcntlInt(statusFD, unix.F_SETFD, 0)
		return err
	}
	defer unix.Close(fd)
	return unix.Dup3(fd, statusFD, 0)
}

// closeInherited has all descriptors from a number on closed on exec.
func closeInherited(from int) error {
	err := unix.CloseRange(uint(from), ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) { // before Linux 5.11
		err = closeListed(from)
	}
	if err != nil {
		return fmt.Errorf("close inherited descriptors: %w", err)
	}
	return nil
}

func closeListed(from int) error {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd >= from {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// dropPrivileges gives up, for the calling thread, what capabilities it has, and the right to ever get more by exec.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	// Without this, root gets all of them back by exec. Who may not set it is not root, in its user namespace at least.
	const noRoot = 1<<0 | 1<<1 // SECBIT_NOROOT and its lock (linux/securebits.h)
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("no rights of root: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("ambient capabilities: %w", err)
	}
	header, none := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	return nil
}

// confine is the second stage. Soft and hard limits are the same, so nothing short of a privileged system call gets them back.
func confine(s stage, memory int64) ([]Mechanism, error) {
	space, data, err := memoryUse()
	if err != nil {
		return nil, err
	}
	if !s.leavesOut(MechanismMemory) {
		if err := limitMemory(space+memory, data+memory); err != nil {
			return nil, err
		}
	}
	process := Mechanism{MechanismProcess, true, "of its own, without environment, descriptors and capabilities"}
	return []Mechanism{process, memoryMechanism(s, memory), landlockMechanism(s), seccompMechanism(s), namespacesMechanism(s)}, nil
}

func limitMemory(space, data int64) error {
	for _, l := range []struct {
		name     string
		resource int
		value    int64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"file size", unix.RLIMIT_FSIZE, 0}, // pipes do not count
		// The runtime reserves address space for each piece of heap before it maps it, so this one stops a single huge
		// allocation. The next one alone does not: pages mapped over a reservation are not checked against it (Linux
		// mmap_region counts only the pages that were not mapped before, readable or not).
		{"address space", unix.RLIMIT_AS, space},
		// This one keeps the large reservations that the runtime makes at its start from being filled.
		{"data", unix.RLIMIT_DATA, data},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: uint64(l.value), Max: uint64(l.value)}); err != nil {
			return fmt.Errorf("limit of %s: %w", l.name, err)
		}
	}
	return nil
}

func memoryMechanism(s stage, memory int64) Mechanism {
	if s.leavesOut(MechanismMemory) {
		return Mechanism{MechanismMemory, false, switchedOff}
	}
	return Mechanism{MechanismMemory, true, fmt.Sprintf("%d MiB more than at the start", memory>>20)}
}

func landlockMechanism(s stage) Mechanism {
	if s.Landlock != "" {
		return Mechanism{MechanismLandlock, false, s.Landlock}
	}
	detail := "no files"
	if s.LandlockVersion >= 4 {
		detail += ", no TCP"
	}
	if s.LandlockVersion >= 6 {
		detail += ", no signals to others"
	}
	return Mechanism{MechanismLandlock, true, fmt.Sprintf("%s (version %d)", detail, s.LandlockVersion)}
}

func seccompMechanism(s stage) Mechanism {
	if s.leavesOut(MechanismSeccomp) {
		return Mechanism{MechanismSeccomp, false, switchedOff}
	}
	if err := filterWorker(); err != nil {
		return Mechanism{MechanismSeccomp, false, err.Error()}
	}
	return Mechanism{MechanismSeccomp, true, "only the system calls of a running Go program"}
}

func namespacesMechanism(s stage) Mechanism {
	switch {
	case s.Namespaces != "":
		return Mechanism{MechanismNamespaces, false, s.Namespaces}
	case s.Root != "":
		return Mechanism{MechanismNamespaces, false, "user, pid, net, ipc, uts, but the files are the system's: " + s.Root}
	}
	return Mechanism{MechanismNamespaces, true, "user, pid, net, ipc, uts, mount"}
}

// memoryUse returns the bytes of address space and of writable private memory of this process, which are what RLIMIT_AS
// and RLIMIT_DATA count.
func memoryUse() (space, data int64, err error) {
	file := os.NewFile(statusFD, "/proc/self/status")
	defer file.Close()
	status, err := io.ReadAll(file)
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
