package harness_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/star"
)

const good = "def run(task, model, env):\n    return loop.run(task, model, env)\n"

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"a.star", good, nil},
		{"a.star", "import re\n", []string{"a.star:1:1: parse: got import, want primary expression (starlark has no import: the modules re, json, math, text, chat and loop are there without it)"}},
		{"a.star", "def run(task, model, env):\n    x = y\n    return z\n", []string{"a.star:2:9: resolve: undefined: y", "a.star:3:12: resolve: undefined: z"}},
		{"a.star", "def run(task):\n    pass\nUSER_PROMPT = 1\n", []string{
			"a.star:1:5: contract: run: got the parameters (task), want (task, model, env)",
			"a.star:3:15: contract: USER_PROMPT: got a number, want a string literal (a prompt is a string literal or literals joined by +; fill it in run with text.fill)",
		}},
		{"a.py", good, []string{"a.py: file: a.py: got a program in python, want Starlark: other languages run in processes of their own"}},
		{"a", good, []string{`a: file: got the extension "", want .star, .py, .mjs, .js`}},
	} {
		got := harness.Check(tt.name, []byte(tt.src))
		if len(got) != len(tt.want) {
			t.Errorf("%s %q: got %v, want %v", tt.name, tt.src, got, tt.want)
			continue
		}
		for i := range got {
			if got[i].String() != tt.want[i] {
				t.Errorf("got %s\nwant %s", got[i], tt.want[i])
			}
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, src string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	h, err := harness.Load(write("good.star", good))
	if err != nil {
		t.Fatal(err)
	}
	if h.ID() != whale.HarnessID([]byte(good)) || string(h.Source()) != good {
		t.Errorf("got the id %s and the source %q", h.ID(), h.Source())
	}

	h, err = harness.Load(write("bad.star", "x = y\n"))
	var found star.Errors
	if h != nil || !errors.As(err, &found) || err.Error() != "bad.star:1:5: undefined: y" {
		t.Errorf("a bad program: got %v, %v", h, err)
	}
	_, err = harness.Load(write("huge.star", strings.Repeat("#", star.MaxSource+10)))
	if !errors.As(err, &found) || !strings.Contains(err.Error(), "program: got 65537 bytes, want at most 65536") {
		t.Errorf("a huge file: got %v", err)
	}
	var unknown *harness.ExtensionError
	path := write("agent.txt", good)
	if _, err = harness.Load(path); !errors.As(err, &unknown) || err.Error() != path+`: got the extension ".txt", want .star, .py, .mjs, .js` {
		t.Errorf("another extension: got %v", err)
	}
	var other *harness.LanguageError
	if _, err = harness.Load(write("agent.py", good)); !errors.As(err, &other) || other.Language != whale.LanguagePython {
		t.Errorf("another language: got %v", err)
	}
	if _, err = harness.Load(filepath.Join(dir, "none.star")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.star"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err = harness.Load(filepath.Join(dir, "dir.star")); err == nil || !strings.Contains(err.Error(), "got a folder, want a file") {
		t.Errorf("a folder: got %v", err)
	}
}

// What is no regular file is refused at once: to open a pipe waits for a writer.
func TestReadRefusesWhatIsNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.star")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skipf("no pipes: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := harness.Read(pipe)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "got a pipe, want a file") {
			t.Errorf("got %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("it waits for a writer")
	}
}
