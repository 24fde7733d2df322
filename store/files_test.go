package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWriteFile(t *testing.T) {
	r := newRun(t)
	for _, text := range []string{"one", "two"} {
		if err := r.WriteFile("archive/p0/harnesses/a/meta.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := r.ReadFile("archive/p0/harnesses/a/meta.json"); err != nil || string(got) != text {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	broken := errors.New("broken source")
	err := r.WriteFrom("archive/p0/harnesses/a/meta.json", func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v, want the writer's error", err)
	}
	if got, _ := r.ReadFile("archive/p0/harnesses/a/meta.json"); string(got) != "two" {
		t.Fatalf("a failed write changed the file to %q", got)
	}
	if left, _ := os.ReadDir(filepath.Join(r.Dir(), scratchName)); len(left) != 0 {
		t.Fatalf("scratch: got %v, want it empty", left)
	}
	if _, err := r.ReadFile("none"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
}

func TestPathsStayInside(t *testing.T) {
	r := newRun(t)
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(r.Dir(), "sessions", "1"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"out": outside, "in": "../../harness", "file": "../../config.yaml"} {
		if err := os.Symlink(target, filepath.Join(r.Dir(), "sessions", "1", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, rel := range []string{
		"", ".", "..", "../x", "a/../../x", "/etc/x", "a\x00b", "sessions/1/out/x", "sessions/1/in/x", "sessions/1/file",
		"config.yaml", "./config.yaml", "lock", "journal.db", "journal.db-wal", "trajectories/000001.jsonl.zst", ".tmp/x", "weights/w/DONE",
		"harness/h.star", "report/../lock",
	} {
		if err := r.WriteFile(rel, []byte("x")); !errors.Is(err, ErrPath) {
			t.Errorf("write %q: got %v, want ErrPath", rel, err)
		}
	}
	for _, rel := range []string{"../x", "/etc/passwd"} {
		if _, err := r.ReadFile(rel); !errors.Is(err, ErrPath) {
			t.Errorf("read %q: got %v, want ErrPath", rel, err)
		}
	}
	if got, _ := os.ReadDir(outside); len(got) != 0 {
		t.Fatalf("something was written outside: %v", got)
	}
	if err := r.WriteFile("report/x/../y", nil); err != nil {
		t.Errorf("a path that cleans up inside: %v", err)
	}
}

func TestHarness(t *testing.T) {
	r := newRun(t)
	for range 2 {
		if err := r.PutHarness("ab12", ".star", []byte("def run(): pass")); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.PutHarness("ab12", ".star", []byte("other")); !errors.Is(err, ErrConflict) {
		t.Fatalf("got %v, want ErrConflict", err)
	}
	if src, err := r.Harness("ab12", ".star"); err != nil || string(src) != "def run(): pass" {
		t.Fatalf("got %q, %v", src, err)
	}
	if _, err := r.Harness("none", ".star"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
	for _, id := range []string{"", ".", "..", "a/b", "../x", "-x", "a b", strings.Repeat("a", 200)} {
		if err := r.PutHarness(id, ".star", nil); !errors.Is(err, ErrPath) {
			t.Errorf("id %q: got %v, want ErrPath", id, err)
		}
	}
}

func TestWeights(t *testing.T) {
	r := newRun(t)
	for range 2 {
		if err := r.WriteWeights("w1", writeTestWeights(1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.WriteWeights("w1", writeTestWeights(2)); !errors.Is(err, ErrConflict) {
		t.Fatalf("got %v, want ErrConflict", err)
	}
	broken := errors.New("broken")
	if err := r.WriteWeights("w2", func(string) error { return broken }); !errors.Is(err, broken) {
		t.Fatalf("got %v, want the writer's error", err)
	}
	if _, ok := r.Weights("w2"); ok {
		t.Fatal("weights are there whose writer failed")
	}
	if err := r.WriteWeights("w3", func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "x")) }); err == nil {
		t.Fatal("a symbolic link among weights: got nil, want an error")
	}
	// Left by a kill between the move and DONE.
	half := filepath.Join(r.Dir(), "weights", "w4")
	if err := os.MkdirAll(half, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "junk"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Weights("w4"); ok {
		t.Fatal("weights without DONE are there")
	}
	if err := r.WriteWeights("w4", writeTestWeights(4)); err != nil {
		t.Fatal(err)
	}
	if ids, err := r.ListWeights(); err != nil || !slices.Equal(ids, []string{"w1", "w4"}) {
		t.Fatalf("got %v, %v", ids, err)
	}
	dir, ok := r.Weights("w4")
	if !ok || dir != half {
		t.Fatalf("got %q, %v", dir, ok)
	}
	if err := r.VerifyWeights("w4"); err != nil {
		t.Fatal(err)
	}
	checkDamagedWeights(t, r, dir)
	if err := r.RemoveWeights("w4"); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveWeights("w4"); err != nil {
		t.Fatalf("removing twice: %v", err)
	}
	if err := r.VerifyWeights("w4"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
}

func checkDamagedWeights(t *testing.T, r *Run, dir string) {
	t.Helper()
	model := filepath.Join(dir, "model.safetensors")
	data, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	data[10] ^= 1
	if err := os.WriteFile(model, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.VerifyWeights("w4"); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("flipped bit: got %v, want ErrCorrupt", err)
	}
	if err := os.Truncate(model, 5); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Weights("w4"); ok {
		t.Fatal("weights with a file cut short are there")
	}
	if err := os.WriteFile(filepath.Join(dir, "DONE"), []byte(`{"files":[{"name":"../../config.yaml"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.VerifyWeights("w4"); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("DONE that points outside: got %v, want ErrCorrupt", err)
	}
}

// Whatever happened to the files of weights, writing them again puts them right; as long as they are whole nothing else takes their id.
func TestDamagedWeightsAreReplaced(t *testing.T) {
	for name, damage := range map[string]func(dir, file string) error{
		"a bit": func(_, file string) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 1
			return os.WriteFile(file, data, 0o644)
		},
		"cut":      func(_, file string) error { return os.Truncate(file, 1) },
		"missing":  func(_, file string) error { return os.Remove(file) },
		"one more": func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "extra"), nil, 0o644) },
		"a link":   func(dir, _ string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "link")) },
		"DONE":     func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, doneName), []byte("{"), 0o644) },
		"DONE's path": func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, doneName), []byte(`{"files": [{"name": "../x"}]}`), 0o644)
		},
	} {
		for i, other := range []string{"same", "others"} {
			t.Run(name+"/"+other, func(t *testing.T) {
				r := newRun(t)
				if err := r.WriteWeights("w", writeTestWeights(1)); err != nil {
					t.Fatal(err)
				}
				dir, _ := r.Weights("w")
				files, err := filepath.Glob(filepath.Join(dir, "*"))
				if err != nil {
					t.Fatal(err)
				}
				files = slices.DeleteFunc(files, func(f string) bool {
					info, err := os.Stat(f)
					return err != nil || !info.Mode().IsRegular() || info.Size() < 2 || filepath.Base(f) == doneName
				})
				if err := damage(dir, files[0]); err != nil {
					t.Fatal(err)
				}
				if err := r.VerifyWeights("w"); !errors.Is(err, ErrCorrupt) {
					t.Fatalf("damaged: got %v, want ErrCorrupt", err)
				}
				if err := r.WriteWeights("w", writeTestWeights(1+i)); err != nil {
					t.Fatal(err)
				}
				if err := r.VerifyWeights("w"); err != nil {
					t.Error(err)
				}
				if err := r.WriteWeights("w", writeTestWeights(7)); !errors.Is(err, ErrConflict) {
					t.Errorf("whole again: got %v, want ErrConflict", err)
				}
			})
		}
	}
}

func TestWithoutWeightsFolder(t *testing.T) {
	r := newRun(t)
	if err := os.Remove(filepath.Join(r.Dir(), weightsDir)); err != nil {
		t.Fatal(err)
	}
	if ids, err := r.ListWeights(); err != nil || len(ids) != 0 {
		t.Errorf("list: got %v, %v, want none", ids, err)
	}
	if err := r.RemoveWeights("w"); err != nil {
		t.Errorf("remove: %v", err)
	}
	if err := r.WriteWeights("w", writeTestWeights(1)); err != nil {
		t.Fatal(err)
	}
	if ids, err := r.ListWeights(); err != nil || !slices.Equal(ids, []string{"w"}) {
		t.Errorf("list: got %v, %v, want w", ids, err)
	}
}

// TestHalfRemovedWeightsAreCleared: what a kill left without DONE goes when the run is opened again; whole weights and what is not ours stay.
func TestHalfRemovedWeightsAreCleared(t *testing.T) {
	r := newRun(t)
	for _, id := range []string{"whole", "half"} {
		if err := r.WriteWeights(id, writeTestWeights(1)); err != nil {
			t.Fatal(err)
		}
	}
	weights := filepath.Join(r.Dir(), "weights")
	if err := os.Remove(filepath.Join(weights, "half", "DONE")); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(weights, "damaged")
	if err := os.MkdirAll(damaged, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(damaged, "DONE"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	r = reopen(t, r)
	if _, ok := r.Weights("whole"); !ok {
		t.Error("whole weights are gone")
	}
	if _, err := os.Stat(filepath.Join(weights, "half")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half-removed weights: got %v, want them gone", err)
	}
	if _, err := os.Stat(damaged); err != nil {
		t.Errorf("weights with a damaged DONE are for a person to look at: got %v", err)
	}
}
