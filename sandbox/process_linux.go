package sandbox

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes are those of a worker process, seen from the parent. The death signal is tied to the thread that starts
// the process; see starter.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
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
