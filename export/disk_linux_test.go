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

	"github.com/seed-095d5d2b/whale/store/disktest"
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
	disktest.InNamespace(t, cmd)
}

func childDisk(run, disk string) int {
	fail := func(format string, args ...any) int {
		fmt.Printf(format+"\n", args...)
		return 1
	}
	tiny := disktest.Disk{Dir: disk}
	failed := 0
	for _, kilobytes := range []int{4, 16, 4_000, 4_120, 4_140, 4_160, 4_180, 20_000} {
		if err := tiny.Resize(kilobytes); err != nil {
			return fail("%v", err)
		}
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
