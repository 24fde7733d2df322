package export

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale/store"
)

// A run directory that was changed is refused, or what was changed is replaced by what the journal has of it.
func TestChangedRun(t *testing.T) {
	change := func(t *testing.T, name string, to func([]byte) []byte) {
		t.Helper()
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, to(data), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 0x40; return b }
	remove := func(t *testing.T, name string) {
		t.Helper()
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	final, err := full.story(t).Moment("final")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join("harness", string(final.Harness)+".star")
	weights := filepath.Join("weights", "step-000001")
	for _, tc := range []struct {
		what  string
		spoil func(t *testing.T, run string)
		want  string // "" = the export is made all the same
		is    error
	}{
		{"weights changed", func(t *testing.T, run string) { change(t, filepath.Join(run, weights, "model.safetensors"), flip) }, "hash", store.ErrCorrupt},
		{"weights gone", func(t *testing.T, run string) { remove(t, filepath.Join(run, weights)) }, weights + ", and this folder is missing", nil},
		{"weights not whole", func(t *testing.T, run string) { remove(t, filepath.Join(run, weights, "tokenizer.json")) }, "the weights of final are not whole in ", nil},
		{"harness changed", func(t *testing.T, run string) { change(t, filepath.Join(run, program), flip) }, "", nil},
		{"harness gone", func(t *testing.T, run string) { remove(t, filepath.Join(run, program)) }, "", nil},
		{"harness is a pipe", func(t *testing.T, run string) {
			remove(t, filepath.Join(run, program))
			if err := syscall.Mkfifo(filepath.Join(run, program), 0o644); err != nil {
				t.Skip(err)
			}
		}, "", nil},
		{"config is a pipe", func(t *testing.T, run string) {
			remove(t, filepath.Join(run, "config.yaml"))
			if err := syscall.Mkfifo(filepath.Join(run, "config.yaml"), 0o644); err != nil {
				t.Skip(err)
			}
		}, "no regular file", store.ErrCorrupt},
		{"config is huge", func(t *testing.T, run string) {
			if err := os.Truncate(filepath.Join(run, "config.yaml"), maxConfig+1); err != nil {
				t.Fatal(err)
			}
		}, "want at most", store.ErrCorrupt},
		{"config is a link to elsewhere", func(t *testing.T, run string) {
			remove(t, filepath.Join(run, "config.yaml"))
			if err := os.Symlink("/etc/hostname", filepath.Join(run, "config.yaml")); err != nil {
				t.Fatal(err)
			}
		}, "no regular file", store.ErrCorrupt},
	} {
		t.Run(tc.what, func(t *testing.T) {
			run := full.copied(t)
			tc.spoil(t, run)
			parent := t.TempDir()
			r, err := Run(t.Context(), run, filepath.Join(parent, "out"), Options{Format: HF, Type: TypeF32})
			if tc.want == "" {
				if err != nil || !strings.HasPrefix(filepath.Base(r.HarnessFile), string(final.Harness)) || !strings.Contains(read(t, r, r.HarnessFile), "def run(") {
					t.Errorf("got %v, %v", r, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got %v, want one line with %q", err, tc.want)
			}
			empty(t, tc.what, parent)
		})
	}
}

// TestTextIsData: nothing that a run says leaves its place in the card.
func TestTextIsData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("`|<>\n\\a \x1b\u202e")), 0, 40, -1)).Draw(t, "s")
		for what, got := range map[string]string{"text": text(s), "code": code(s), "cell": cell(s)} {
			if strings.ContainsAny(got, "<>\n\t") || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }) {
				t.Fatalf("%s of %q: got %q", what, s, got)
			}
		}
		if c := code(s); strings.Count(c, "`") != 2 {
			t.Fatalf("code of %q: got %q", s, c)
		}
		for i, part := range strings.Split(cell(s), "|") {
			if i > 0 && !strings.HasSuffix(strings.Split(cell(s), "|")[i-1], `\`) {
				t.Fatalf("cell of %q: got %q (%q)", s, cell(s), part)
			}
		}
		block := fenced("x", s)
		lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
		fence := strings.TrimSuffix(lines[0], "x")
		if len(fence) < 3 || lines[len(lines)-1] != fence {
			t.Fatalf("fenced %q: got %q", s, block)
		}
		for _, line := range lines[1 : len(lines)-1] {
			if strings.Contains(line, fence) {
				t.Fatalf("fenced %q: got %q", s, block)
			}
		}
	})
}
