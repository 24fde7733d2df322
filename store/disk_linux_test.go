package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/store/disktest"
)

// diskChildren need mounts of their own.
var diskChildren = map[string]func(args []string) error{"full": childFull, "fullPosts": childFullPosts, "readonly": childReadOnly}

// inNamespace runs a child that may mount file systems of its own; they vanish with it.
func inNamespace(t *testing.T, name string) {
	t.Helper()
	disktest.InNamespace(t, child(t, name, t.TempDir()))
}

func oneLine(err error, path string) error {
	if text := err.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, path) {
		return fmt.Errorf("got error %q, want one line that begins with %s", text, path)
	}
	return nil
}

func TestFullDisk(t *testing.T) { inNamespace(t, "full") }

// childFull fills a tiny disk: everything fails with ErrFull, and what was acknowledged stays. With room again
// the same Run goes on.
func childFull(args []string) error {
	dir, ctx := args[0], context.Background()
	disk := disktest.Disk{Dir: dir}
	if err := disk.Resize(3 << 10); err != nil {
		return err
	}
	r, err := Create(filepath.Join(dir, "run"), []byte("a: 1\n"), testOptions)
	if err != nil {
		return err
	}
	if err := r.WriteFile("report/a", []byte("old")); err != nil {
		return err
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o644); err != nil {
		return err
	}
	acked := 0
	for ; ; acked++ {
		rr, line := row(acked)
		if err = r.PutRollout(ctx, rr, line); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFull) {
		return fmt.Errorf("put on a full disk: got %w, want ErrFull", err)
	}
	if err := oneLine(err, r.Dir()); err != nil {
		return err
	}
	big := make([]byte, 4<<20)
	if err := r.WriteFile("report/a", big); !errors.Is(err, ErrFull) {
		return fmt.Errorf("file on a full disk: got %w, want ErrFull", err)
	}
	err = r.WriteWeights("w", func(dir string) error { return os.WriteFile(filepath.Join(dir, "m"), big, 0o644) })
	if !errors.Is(err, ErrFull) {
		return fmt.Errorf("weights on a full disk: got %w, want ErrFull", err)
	}
	if got, err := r.ReadFile("report/a"); err != nil || string(got) != "old" {
		return fmt.Errorf("the old file became %q, %w", got, err)
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	for end := acked + 20; acked < end; acked++ {
		rr, line := row(acked)
		if err := r.PutRollout(ctx, rr, line); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	if r, err = Open(r.Dir(), testOptions); err != nil {
		return err
	}
	defer r.Close()
	for i := range acked {
		rr, line := row(i)
		if got, err := r.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
			return fmt.Errorf("rollout %d of %d: got %q, %w", i, acked, got, err)
		}
	}
	return nil
}

func TestFullDiskWhilePosting(t *testing.T) { inNamespace(t, "fullPosts") }

// childFullPosts fills a tiny disk with posts: once one is lost, the Run takes nothing more, even with room again, and the next Run goes
// on from what Sync acknowledged.
func childFullPosts(args []string) error {
	dir, ctx := args[0], context.Background()
	disk := disktest.Disk{Dir: dir}
	if err := disk.Resize(3 << 10); err != nil {
		return err
	}
	r, err := Create(filepath.Join(dir, "run"), nil, testOptions)
	if err != nil {
		return err
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o644); err != nil {
		return err
	}
	acked := 0
	for i := 0; err == nil; i++ {
		if err = post(ctx, r, i); err == nil && i%50 == 49 {
			if err = r.Sync(ctx); err == nil {
				acked = i + 1
			}
		}
	}
	if !errors.Is(err, ErrFull) {
		return fmt.Errorf("posts on a full disk: got %w, want ErrFull", err)
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	if _, err := r.Append(ctx, "decision", "1", nil); !errors.Is(err, ErrFull) {
		return fmt.Errorf("after a lost post: got %w, want ErrFull", err)
	}
	if err := r.Close(); err != nil {
		return err
	}
	if r, err = Open(r.Dir(), testOptions); err != nil {
		return err
	}
	defer r.Close()
	for i := range acked {
		rr, line := row(i)
		if got, err := r.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
			return fmt.Errorf("rollout %d of %d: got %q, %w", i, acked, got, err)
		}
	}
	for i := range acked + 100 { // those that came after are posted again
		if err := post(ctx, r, i); err != nil {
			return err
		}
	}
	return r.Sync(ctx)
}

func TestReadOnlyDisk(t *testing.T) { inNamespace(t, "readonly") }

// childReadOnly reads a run on a disk that became read-only, closed and left by a kill.
func childReadOnly(args []string) error {
	dir, ctx := args[0], context.Background()
	disk := disktest.Disk{Dir: dir}
	if err := disk.Resize(3 << 10); err != nil {
		return err
	}
	r, err := Create(filepath.Join(dir, "run"), nil, testOptions)
	if err != nil {
		return err
	}
	rr, line := row(1)
	if err := r.PutRollout(ctx, rr, line); err != nil {
		return err
	}
	killed := filepath.Join(dir, "killed")
	if err := os.CopyFS(killed, os.DirFS(r.Dir())); err != nil { // with its write-ahead log, as a kill leaves it
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	if err := disk.ReadOnly(); err != nil {
		return err
	}
	if _, err := Open(r.Dir(), testOptions); !errors.Is(err, ErrReadOnly) {
		return fmt.Errorf("open: got %w, want ErrReadOnly", err)
	} else if err := oneLine(err, r.Dir()); err != nil {
		return err
	}
	if _, err := Create(filepath.Join(dir, "other"), nil, testOptions); !errors.Is(err, ErrReadOnly) {
		return fmt.Errorf("create: got %w, want ErrReadOnly", err)
	}
	for _, path := range []string{r.Dir(), killed} {
		ro, err := OpenReadOnly(path)
		if err != nil {
			return err
		}
		defer ro.Close()
		if got, err := ro.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
			return fmt.Errorf("trajectory of %s: got %q, %w", path, got, err)
		}
	}
	return nil
}
