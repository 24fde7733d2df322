//go:build !unix

package mcptool

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup ends the command alone: this system has no process groups.
func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
