// Package disktest gives tests a disk that is too small: a file system in memory, which a child process mounts in a namespace of its own, where it
// vanishes with the child.
package disktest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// InNamespace runs a child that may mount file systems of its own, and gives what it printed. A child that fails fails the test; one that
// was not allowed to mount skips it.
func InNamespace(t *testing.T, child *exec.Cmd) []byte {
	t.Helper()
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := child.CombinedOutput()
	if strings.HasPrefix(string(out), refused) || err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Skipf("no namespace to mount in: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// refused begins what a child prints that may not mount.
const refused = "mount: "

// Disk is the file system that a child has mounted at Dir.
type Disk struct {
	Dir   string
	there bool
}

// Resize mounts the disk, and later changes its size. The child prints the error, and nothing before it.
func (d *Disk) Resize(kilobytes int) error {
	var flags uintptr
	if d.there {
		flags = syscall.MS_REMOUNT
	}
	if err := syscall.Mount("tiny", d.Dir, "tmpfs", flags, fmt.Sprintf("size=%dk", kilobytes)); err != nil {
		return fmt.Errorf(refused+"%w", err)
	}
	d.there = true
	return nil
}

// ReadOnly makes a mounted disk read-only.
func (d *Disk) ReadOnly() error {
	if err := syscall.Mount("tiny", d.Dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf(refused+"%w", err)
	}
	return nil
}
