package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// boundedDir is where the first stage mounts the program's /tmp: a directory that every system has and that bubblewrap does not need.
const boundedDir = "/sys"

// commandStage is what comes before bubblewrap: this program, in name spaces of its own for users and mounts. Bubblewrap sets no
// resource limits and passes inherited descriptors on; and a file system in memory that it makes itself is bounded in bytes
// only, while a million empty files take a gigabyte of the kernel's memory.
type commandStage struct {
	Parent    user   `json:"parent"`
	Tmp       int64  `json:"tmp"`
	TmpFiles  int    `json:"tmp_files"`
	OpenFiles uint64 `json:"open_files"`
	Seconds   uint64 `json:"seconds"` // of processor time
	Data      uint64 `json:"data"`
	Space     uint64 `json:"space"`
	Keep      int    `json:"keep"` // descriptors below this number stay open
}

// statusPipe is the descriptor on which bubblewrap tells what becomes of the program; those of the files follow.
const statusPipe = 3

// orphaned reports whether the parent has died, which the death signal does not tell if it happened before that was set.
func orphaned() bool {
	pipe := []unix.PollFd{{Fd: statusPipe}}
	_, err := unix.Poll(pipe, 0)
	return err == nil && pipe[0].Revents&unix.POLLERR != 0 // nobody reads
}

// firstStage is the command line before that of bubblewrap.
func (s CommandSpec) firstStage(keep int) ([]string, error) {
	self, err := thisProgram()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(commandStage{
		Parent: thisUser(), Tmp: s.Tmp, TmpFiles: s.TmpFiles, OpenFiles: uint64(s.OpenFiles), Seconds: uint64((s.CPU + 999_999_999) / 1e9),
		Data: uint64(s.Memory), Space: uint64(s.Memory + s.Reserve), Keep: keep,
	})
	return []string{self, commandArg, string(text)}, err
}

// becomeCommand is the first stage. It returns only if it does not become bubblewrap.
func becomeCommand(args []string) error {
	var s commandStage
	if err := json.Unmarshal([]byte(args[2]), &s); err != nil {
		return err
	}
	// Bubblewrap takes capabilities for a mistake in anybody but root, which this makes it in here.
	if err := mapUser(s.Parent, 0); err != nil {
		return err
	}
	options := fmt.Sprintf("size=%d,nr_inodes=%d,mode=700", s.Tmp, s.TmpFiles+1) // the directory itself counts
	if err := unix.Mount("tmpfs", boundedDir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
		return fmt.Errorf("mount a bounded /tmp: %w", err)
	}
	if err := closeInherited(s.Keep); err != nil {
		return err
	}
	for _, l := range []struct {
		name       string
		resource   int
		soft, hard uint64
	}{
		{"core", unix.RLIMIT_CORE, 0, 0},
		{"open files", unix.RLIMIT_NOFILE, s.OpenFiles, s.OpenFiles},
		// The program is told by a signal that can be recognised, and killed a second later.
		{"processor time", unix.RLIMIT_CPU, s.Seconds, s.Seconds + 1},
	} {
		var had syscall.Rlimit // which nobody but root may raise
		if err := syscall.Getrlimit(l.resource, &had); err != nil {
			return fmt.Errorf("limit of %s: %w", l.name, err)
		}
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: min(l.soft, had.Max), Max: min(l.hard, had.Max)}); err != nil {
			return fmt.Errorf("limit of %s: %w", l.name, err)
		}
	}
	if orphaned() {
		return errors.New("the parent has died")
	}
	return execWithin(s.Data, s.Space, args[3:])
}

// execWithin becomes another program under limits of memory that are below what this one has taken: from the first of them on nothing here may
// allocate, so everything is made ready before.
func execWithin(data, space uint64, args []string) error {
	debug.SetGCPercent(-1)
	runtime.LockOSThread()
	program, err := syscall.BytePtrFromString(args[0])
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return err
	}
	environment := []*byte{nil}
	limits := [2]unix.Rlimit{{Cur: data, Max: data}, {Cur: space, Max: space}}
	_, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_DATA, uintptr(unsafe.Pointer(&limits[0])), 0, 0, 0)
	if errno == 0 {
		_, _, errno = unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_AS, uintptr(unsafe.Pointer(&limits[1])), 0, 0, 0)
	}
	if errno == 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(program)), uintptr(unsafe.Pointer(&argv[0])),
			uintptr(unsafe.Pointer(&environment[0])))
	}
	return fmt.Errorf("limits of memory or bubblewrap: %w", errno)
}
