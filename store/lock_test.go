package store

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A run that was closed can be opened at once, also while a process that is being started holds a copy of the lock's open file.
func TestClosedRunIsFree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, []byte("name: x\n"), testOptions)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := syscall.Dup(int(r.lock.Fd())) // what a fork makes
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(copied)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, testOptions)
	if err != nil {
		t.Fatalf("opened after it was closed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
