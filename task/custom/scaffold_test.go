package custom

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What Scaffold writes is a task without fault, and it never writes over anything.
func TestScaffold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my task!")
	written, err := Scaffold(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"task.yaml", "h0.star", "README.md"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if len(written) != 5 {
		t.Errorf("got %d files (%v), want 5", len(written), written)
	}
	r, err := Check(t.Context(), Config{Folder: dir}, Deps{}, CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || len(r.Warnings) != 0 || r.Verified != 16 || r.Name != "my-task" {
		t.Errorf("got %+v, want no problems, 16 verified answers, the name my-task", r)
	}
	var out bytes.Buffer
	if err := newTask(t, dir, Deps{}).Show(&out, ShowOptions{Example: 1}); err != nil || !strings.Contains(out.String(), "question: ") {
		t.Errorf("show: got %q (%v), want a question", out.String(), err)
	}
	if _, err := Scaffold(dir); err == nil || !strings.Contains(err.Error(), "want an empty one") {
		t.Errorf("again: got %v, want a refusal", err)
	}
}
