package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/recipe"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("%s, line %d: got\n%s\nwant\n%s\n(-update writes it anew)", name, i+1, g[i], w[i])
			}
		}
		t.Fatalf("%s: got %d lines, want %d (-update writes it anew)", name, len(g), len(w))
	}
}

func TestGolden(t *testing.T) {
	r := build(t, small())
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "small.txt", text.Bytes())
	for _, name := range CSVNames() {
		var b bytes.Buffer
		if err := r.WriteCSV(&b, name); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("%s.csv: got %d rows, %v", name, len(rows), err)
		}
		golden(t, name+".csv", b.Bytes())
	}
	if err := r.WriteCSV(&text, "none"); err == nil || !strings.Contains(err.Error(), "accuracy") {
		t.Errorf("csv of no such table: got %v, want the names", err)
	}
}

// TestJSONHoldsAll: the JSON form gives back the same report, so no number is lost in it.
func TestJSONHoldsAll(t *testing.T) {
	r := build(t, small())
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	var text, again bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := back.WriteText(&again); err != nil {
		t.Fatal(err)
	}
	if text.String() != again.String() {
		t.Error("the tables of the JSON form are others than the report's")
	}
	for _, name := range CSVNames() {
		var table, again bytes.Buffer
		if err := errors.Join(r.WriteCSV(&table, name), back.WriteCSV(&again, name)); err != nil {
			t.Fatal(err)
		}
		if table.String() != again.String() {
			t.Errorf("%s.csv of the JSON form is another than the report's", name)
		}
	}
}

// TestWriteAll: the files are there, are the same each time, and replace a link in their place instead of following it.
func TestWriteAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "report")
	r := build(t, []*recipe.Story{
		fake{method: recipe.MethodWhale, seed: 1, gain: 0.5, cycles: 1, examples: 6, draws: 2, steps: 2, sessions: 1, matrix: true}.story(),
		fake{method: recipe.MethodFST, seed: 1, gain: 0.4, cycles: 1, examples: 6, draws: 2, steps: 2, sessions: 1}.story(),
	})
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "report.html")); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, "plots")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.WriteAll(t.Context(), dir); err == nil {
		t.Error("plots is a link out of the folder: got nil, want an error")
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("got %d files behind the link, %v", len(entries), err)
	}
	if err := os.Remove(filepath.Join(dir, "plots")); err != nil {
		t.Fatal(err)
	}
	files, err := r.WriteAll(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"report.html", "report.json", "report.txt", "accuracy.csv", "curve.csv", "plots/final.svg", "plots/final.png", "plots/differences.png", "plots/accuracy.svg", "plots/phases.svg", "plots/steps.png", "plots/search.svg", "plots/matrix-1.png"} {
		if !slices.Contains(files, want) {
			t.Errorf("got no %s among %q", want, files)
		}
	}
	first := map[string][]byte{}
	for _, f := range files {
		if first[f], err = os.ReadFile(filepath.Join(dir, f)); err != nil || len(first[f]) == 0 {
			t.Errorf("%s: got %d bytes, %v", f, len(first[f]), err)
		}
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != "mine" {
		t.Errorf("the linked file: got %q, %v, want it as it was", data, err)
	}
	if _, err := r.WriteAll(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(filepath.Join(dir, f)); err != nil || !bytes.Equal(data, first[f]) {
			t.Errorf("%s: written again it is another, %v", f, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("got left-over files %q, %v", left, err)
	}
}
