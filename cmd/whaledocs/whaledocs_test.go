package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite generated pages and blocks")

// built is the whale binary of this test run.
var built = sync.OnceValues(func() (string, error) {
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	bin, done, err := buildWhale(root)
	removeBuilt = done
	return bin, err
})

var removeBuilt func()

func TestMain(m *testing.M) {
	code := m.Run()
	if removeBuilt != nil {
		removeBuilt()
	}
	os.Exit(code)
}

func setup(t *testing.T) (root, bin string) {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	bin, err = built()
	if err != nil {
		t.Fatal(err)
	}
	return root, bin
}

func TestGeneratedIsCurrent(t *testing.T) {
	root, bin := setup(t)
	files, err := generate(source{root: root, bin: bin}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(root, f.path)
		got, err := os.ReadFile(path)
		if err == nil && bytes.Equal(got, f.text) {
			continue
		}
		if *update {
			if err := os.WriteFile(path, f.text, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s is not what the code says: %s; rewrite it with go run ./cmd/whaledocs", f.path, firstDifference(got, f.text))
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		a, b := "the end", "the end"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, a, b)
		}
	}
	return "no difference"
}

// Measured numbers belong to the weights, the harness and the config that they were measured with.
func TestMeasuredInputsAreCurrent(t *testing.T) {
	root, _ := setup(t)
	want, err := inputs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks() {
		if !b.measured {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, b.path))
		if err != nil {
			t.Fatal(err)
		}
		got, err := inside(text, b.name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, "("+want+")") {
			t.Errorf("%s: block %q was measured with other inputs, want (%s); measure it anew with go run ./cmd/whaledocs -measure -page %[1]s", b.path, b.name, want)
		}
	}
}

func TestBlocks(t *testing.T) {
	for _, tc := range []struct{ text, want, err string }{
		{"a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n", "a\n<!-- begin x -->\n\nnew\n\n<!-- end x -->\nb\n", ""},
		{"a\n", "", "block x: want one"},
		{"<!-- end x -->\n<!-- begin x -->\n", "", "ends before it begins"},
		{"<!-- begin x -->\n<!-- begin x -->\n<!-- end x -->\n", "", "want one"},
	} {
		got, err := replace([]byte(tc.text), "x", "new\n")
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%q: got error %v, want %q", tc.text, err, tc.err)
			}
			continue
		}
		if err != nil || string(got) != tc.want {
			t.Errorf("%q: got %q, %v, want %q", tc.text, got, err, tc.want)
		}
	}
}

func TestEscapeTags(t *testing.T) {
	got := escapeTags("a <b> `c <d>` <e>\n    code <f>\n")
	if want := "a &lt;b> `c <d>` &lt;e>\n    code <f>\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
