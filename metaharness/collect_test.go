package metaharness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

// Nothing that a workspace holds can harm: links, big files, pipes, odd names, too many files, descriptions that are no JSON.
func TestCollectHostile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.star")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := func(target string) func(string) error { return func(p string) error { return os.Symlink(target, p) } }
	write := func(text string) func(string) error {
		return func(p string) error { return os.WriteFile(p, []byte(text), 0o644) }
	}
	for _, c := range []struct {
		name   string
		make   func(path string) error
		reason string // of the file's being discarded
		note   string // of the candidate, where it is taken
	}{
		{"link.star", link(outside), "got a symbolic link, want a regular file", ""},
		{"inside.star", link("../README.md"), "got a symbolic link, want a regular file", ""},
		{"dangling.star", link("nowhere"), "got a symbolic link, want a regular file", ""},
		{"huge.star", write(strings.Repeat("#", MaxSource+1)), "size: got 65537 bytes, want at most 65536", ""},
		{"pipe.star", func(p string) error { return syscall.Mkfifo(p, 0o644) }, "not a regular file", ""},
		{"folder.star", func(p string) error { return os.Mkdir(p, 0o755) }, "not a regular file", ""},
		{"latin.star", write("# \xe4\n"), "got bytes that are not UTF-8 text", ""},
		{".hidden.star", write("x"), "not a candidate: want a name like", ""},
		{"white space.star", write("x"), "not a candidate: want a name like", ""},
		{"new\nline.star", write("x"), "not a candidate: want a name like", ""},
		{strings.Repeat("a", 80) + ".star", write("x"), "not a candidate: want a name like", ""},
		{"alone.json", write("{}"), "not a candidate: want a name like", ""},
		{"program.py", write("x"), "not a candidate: want a name like", ""},
		{"largest.star", write(strings.Repeat("#", MaxSource)), "", "largest.json: not readable"},
		{"empty.star", write(""), "", "empty.json: not readable"},
	} {
		ws := workspaceWith(t)
		if err := c.make(filepath.Join(ws, "candidates", c.name)); err != nil {
			t.Fatal(err)
		}
		candidates, discarded, err := Collect(ws, 3)
		switch {
		case err != nil:
			t.Errorf("%q: %v", c.name, err)
		case c.reason != "" && (len(candidates) != 0 || len(discarded) != 1 || !strings.Contains(discarded[0].Reason, c.reason)):
			t.Errorf("%q: got %d candidates, discarded %+v, want %q", c.name, len(candidates), discarded, c.reason)
		case c.reason == "" && (len(candidates) != 1 || len(discarded) != 0 || candidates[0].Note != c.note):
			t.Errorf("%q: got %+v, discarded %+v", c.name, candidates, discarded)
		}
	}
}

func TestCollectDescriptions(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(outside, []byte(`{"hypothesis":"secret"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, hypothesis, note string }{
		{`{"hypothesis":"h","axis":"a","parent":"p","operators":["o"],"more":1}`, "h", ""},
		{`{`, "", "a.json: unexpected end of JSON input"},
		{`{"hypothesis":7}`, "", "a.json: json: cannot unmarshal number"},
		{`[]`, "", "a.json: json: cannot unmarshal array"},
		{`{"axis":"a"}`, "", "a.json: hypothesis: it is missing"},
		{`{"hypothesis":"` + strings.Repeat("x", 9000) + `"}`, strings.Repeat("x", maxReason*2/3) + " […", ""},
		{"", "", "a.json: got a symbolic link, want a regular file"},
	} {
		ws := workspaceWith(t)
		base := filepath.Join(ws, "candidates", "a")
		if err := os.WriteFile(base+".star", []byte("x = 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if c.text == "" {
			if err := os.Symlink(outside, base+".json"); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(base+".json", []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		candidates, _, err := Collect(ws, 3)
		if err != nil || len(candidates) != 1 {
			t.Fatalf("%.30s: got %d candidates, %v", c.text, len(candidates), err)
		}
		got := candidates[0]
		if !strings.HasPrefix(got.Hypothesis, c.hypothesis) || (c.hypothesis == "") != (got.Hypothesis == "") || !strings.HasPrefix(got.Note, c.note) ||
			(c.note == "") != (got.Note == "") {
			t.Errorf("%.30s: got hypothesis %.40q and note %q, want %.40q and %q", c.text, got.Hypothesis, got.Note, c.hypothesis, c.note)
		}
		if len(got.Hypothesis) > maxReason+100 {
			t.Errorf("hypothesis: got %d bytes", len(got.Hypothesis))
		}
	}
}

func TestCollectCount(t *testing.T) {
	ws := workspaceWith(t)
	for i := range 40 {
		if err := os.WriteFile(filepath.Join(ws, "candidates", fmt.Sprintf("c%02d.star", i)), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	candidates, discarded, err := Collect(ws, 3)
	if err != nil || len(candidates) != 3 || candidates[0].Name != "c00" || candidates[2].ID != whale.HarnessID([]byte("x")) {
		t.Fatalf("got %+v, %v", candidates, err)
	}
	last := discarded[len(discarded)-1]
	if len(discarded) != maxDiscarded+1 || !strings.Contains(discarded[0].Reason, "too many candidates: want at most 3") || last.Reason != "and 17 more files" {
		t.Errorf("got %d discarded, the last %+v", len(discarded), last)
	}
	for i := range maxFiles {
		if err := os.WriteFile(filepath.Join(ws, "candidates", fmt.Sprintf("d%d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Collect(ws, 3); err == nil || !strings.Contains(err.Error(), "got more than 1000 files") {
		t.Errorf("got %v, want too many files refused", err)
	}
}

// The folder itself may be missing, or lead elsewhere.
func TestCollectFolder(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": func(string) error { return nil },
		"file":    func(p string) error { return os.WriteFile(p, nil, 0o644) },
		"link":    func(p string) error { return os.Symlink(t.TempDir(), p) },
	} {
		ws := t.TempDir()
		if err := spoil(filepath.Join(ws, "candidates")); err != nil {
			t.Fatal(err)
		}
		if got, _, err := Collect(ws, 3); err == nil || len(got) != 0 {
			t.Errorf("%s: got %d candidates, %v, want an error", name, len(got), err)
		}
	}
}

func workspaceWith(t *testing.T) string {
	t.Helper()
	ws := t.TempDir()
	if err := os.Mkdir(filepath.Join(ws, "candidates"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws, "README.md"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	return ws
}
