package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// workerNamespaces are those of a worker, and commandNamespaces those in which the way to bubblewrap is prepared and in which it runs.
const (
	workerNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNS

	commandNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS
)

// attributes are those of a process in new namespaces, seen from the parent. The death signal is tied to the thread that starts the
// process; see starter. In namespaces of its own the process starts with the given capabilities, which mean something there only.
//
// The mapping of users is not left to the syscall package (UidMappings), nor is the way to clone: with those it copies the page tables of
// this process, which takes 150 ms where that has 2 GiB, and leaves a fault for every page behind. So the child borrows the memory until it
// executes, as it does in all other cases.
func attributes(namespaces uintptr, capabilities []uintptr) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if namespaces != 0 {
		attr.Cloneflags = namespaces | unix.CLONE_VM | unix.CLONE_VFORK
		attr.AmbientCaps = capabilities
	}
	return attr
}

// workerCapabilities are what a worker needs to mount and to map its user.
func workerCapabilities() []uintptr { return []uintptr{unix.CAP_SYS_ADMIN} }

// commandCapabilities are all. Bubblewrap, which runs as root of its namespaces, has them anyway; and a process that gets more of them
// by exec than it had loses its death signal.
func commandCapabilities() (all []uintptr) {
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		all = append(all, c)
	}
	return all
}

// mapUser makes the user and group of this process, whose user namespace is new, appear there as the given number. It is the only
// number that exists there.
func mapUser(outside user, inside int) error {
	for _, m := range []struct{ file, text string }{
		{"setgroups", "deny"}, // or the next one would be refused
		{"gid_map", fmt.Sprintf("%d %d 1", inside, outside.Group)},
		{"uid_map", fmt.Sprintf("%d %d 1", inside, outside.User)},
	} {
		if err := os.WriteFile("/proc/self/"+m.file, []byte(m.text), 0); err != nil {
			return fmt.Errorf("map the user: %w", err)
		}
	}
	return nil
}

// noNamespaces says why the system grants no namespaces, if that is why a process did not start; else it is empty. (Anything else, being
// out of memory say, would hit a process without namespaces as well.)
func noNamespaces(err error) string {
	for _, e := range []syscall.Errno{unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOSPC, unix.EUSERS, unix.ENOSYS} {
		if errors.Is(err, e) {
			return "the system grants none: " + e.Error()
		}
	}
	return ""
}

// killGroup kills a worker with everything it may have started.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) } // it may have ended already

// awaitExit returns when the process has ended, without reaping it: until it is reaped nobody else gets its id, and its
// group can be signalled safely.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
