package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// pollable makes a descriptor of this process one for which a goroutine waits without holding the only processor that the worker
// has: a thread that blocks in a system call gives it back only after a while.
func pollable(f *os.File) *os.File {
	fd := int(f.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		return f // it works, more slowly
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// nowWriter returns a function that writes what a pipe takes without waiting.
func nowWriter(f *os.File) func([]byte) (int, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return func([]byte) (int, error) { return 0, err }
	}
	return func(b []byte) (n int, err error) {
		again := conn.Write(func(fd uintptr) bool {
			for {
				n, err = syscall.Write(int(fd), b)
				if !errors.Is(err, syscall.EINTR) {
					return true
				}
			}
		})
		switch {
		case again != nil:
			return 0, again
		case errors.Is(err, syscall.EAGAIN):
			return 0, nil
		}
		return max(n, 0), err
	}
}
