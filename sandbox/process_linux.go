package sandbox

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes are those of a worker process, seen from the parent. The death signal is tied to the thread that starts
// the process; see starter. In namespaces of its own the process starts with the one capability that it needs to leave the
// file system, and which means something there only.
func attributes(namespaces bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if namespaces {
		attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNS
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getegid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return attr
}

// noNamespaces reports whether a process did not start because the system grants no namespaces. (Anything else, being out of
// memory say, would hit a process without namespaces as well.)
func noNamespaces(err error) bool {
	for _, e := range []syscall.Errno{unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOSPC, unix.EUSERS, unix.ENOSYS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
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
