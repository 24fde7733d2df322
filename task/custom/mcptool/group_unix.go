//go:build unix

package mcptool

import (
	"os/exec"
	"syscall"
)

// ownGroup lets a command lead a process group, so that what it starts can be ended with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends all of a command's group. Where nothing of it is left it does nothing.
func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
