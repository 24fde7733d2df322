package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/store/disktest"
)

// TestFullDisk runs on a disk that is too small, again and again with a little more room: each time the command says that the disk is full,
// and in the end the run comes to what it would have come to with room from the start. The disk is a file system in memory that a child
// process mounts in a namespace of its own, where it vanishes with the child.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	cmd := child(t, dir, "disk", dir)
	out := disktest.InNamespace(t, cmd)
	must(t, "run", config, "--dir", filepath.Join(dir, "straight"))
	if d := differ(fingerprint(t, filepath.Join(dir, "copy")), fingerprint(t, filepath.Join(dir, "straight"))); len(d) > 0 {
		t.Errorf("after the disk was full:\n%s", strings.Join(d, "\n"))
	}
	t.Logf("%s", out)
}

// childDisk runs the test config in DIR/disk/run on a disk that grows, and copies the finished run to DIR/copy.
func childDisk(dir string) int {
	disk := filepath.Join(dir, "disk")
	fail := func(format string, args ...any) int {
		fmt.Printf(format+"\n", args...)
		return 1
	}
	if err := os.Mkdir(disk, 0o755); err != nil {
		return fail("%v", err)
	}
	run := filepath.Join(disk, "run")
	full := 0
	tiny := disktest.Disk{Dir: disk}
	// The first sizes have no room for a journal, later ones for some more of the run each.
	for _, kilobytes := range []int{8, 200, 600, 3_000, 9_000, 14_000, 20_000, 27_000, 34_000, 41_000, 50_000, 70_000, 1_000_000} {
		if err := tiny.Resize(kilobytes); err != nil {
			return fail("%v", err)
		}
		args := []string{"resume", run, "--json"}
		if _, err := os.Stat(filepath.Join(run, "config.yaml")); err != nil {
			args = []string{"run", filepath.Join(dir, "c.yaml"), "--dir", run, "--json"}
		}
		var out, errs bytes.Buffer
		a := &app{stdout: &out, stderr: &errs, now: time.Now, workers: 2, width: func() int { return 80 }}
		code := a.main(context.Background(), args)
		if code == exitOK {
			if err := os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(run)); err != nil {
				return fail("%v", err)
			}
			if full < 5 {
				return fail("the disk was full %d times, want 5 or more: the test shows too little", full)
			}
			return fail("the disk was full %d times", full) - 1
		}
		full++
		line := errs.String()
		if code != exitDisk || !strings.HasPrefix(line, "whale: ") || strings.Count(line, "\n") != 1 || !strings.Contains(line, disk) {
			return fail("%d kB: got exit code %d and %q, want %d and one line that names the place", kilobytes, code, line, exitDisk)
		}
		if _, err := os.Stat(filepath.Join(run, "config.yaml")); err == nil && !strings.Contains(line, "whale resume "+run+" goes on") {
			return fail("%d kB: got %q, want to be told how to go on", kilobytes, line)
		}
		fmt.Printf("%d kB: %s", kilobytes, line)
	}
	return fail("the disk is large enough, and the run does not end")
}
