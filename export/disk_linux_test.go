package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk exports onto a disk that is too small, each time with a little more room: the error is the full disk's, nothing is left, and in the
// end the export is made. The disk is a file system in memory that a child process mounts in a namespace of its own.
func TestFullDisk(t *testing.T) {
	run, dir := full.make(t), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, run, dir)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if strings.HasPrefix(string(out), "mount: ") || err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Skipf("no namespace to mount in: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func childDisk(run, disk string) int {
	fail := func(format string, args ...any) int {
		fmt.Printf(format+"\n", args...)
		return 1
	}
	var flags uintptr
	failed := 0
	for _, kilobytes := range []int{4, 16, 4_000, 4_120, 4_140, 4_160, 4_180, 20_000} {
		if err := syscall.Mount("tiny", disk, "tmpfs", flags, fmt.Sprintf("size=%dk", kilobytes)); err != nil {
			return fail("mount: %v", err)
		}
		flags = syscall.MS_REMOUNT
		out := filepath.Join(disk, "out")
		_, err := Run(context.Background(), run, out, Options{Format: HF, Type: TypeF32})
		if err == nil {
			if _, err := os.Stat(filepath.Join(out, "README.md")); err != nil || failed < 3 {
				return fail("the disk was full %d times, want 3 or more: %v", failed, err)
			}
			return 0
		}
		failed++
		if !errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), out) {
			return fail("%d kB: got %v, want one line that names the place and the full disk", kilobytes, err)
		}
		if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
			return fail("%d kB: it left %v (%v)", kilobytes, left, err)
		}
	}
	return fail("the disk is large enough, and there is no export")
}
