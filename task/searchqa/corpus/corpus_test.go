package corpus

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readAll(t *testing.T, path string) ([]Passage, []string, error) {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	var list []Passage
	for {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, r.Notes(), nil
		}
		if err != nil {
			return list, nil, err
		}
		list = append(list, p)
	}
}

func TestReader(t *testing.T) {
	list, _, err := readAll(t, write(t, "wiki.jsonl", `
{"id": "0", "contents": "\"Aaron\"\nAaron is a prophet.\nHe is a priest."}
{"id": 1, "title": "Beta", "text": "The second letter."}
{"id": "2", "text": "No title."}
{"id": "3", "contents": "One line without a title"}
{"id": "4", "contents": "Not quoted\nbut two lines", "title": "ignored"}
`))
	want := []Passage{
		{"0", "Aaron", "Aaron is a prophet.\nHe is a priest."}, {"1", "Beta", "The second letter."}, {"2", "", "No title."},
		{"3", "", "One line without a title"}, {"4", "", "Not quoted\nbut two lines"},
	}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("got %+v, %v; want %+v", list, err, want)
	}
}

// A bad row names file and row, and ends the file where there are too many.
func TestBadRows(t *testing.T) {
	good := strings.Repeat(`{"id":"1","text":"x"}`+"\n", 3000)
	for _, bad := range []string{`{"text":"x"}`, `{"id":"1"}`, `{"id":"1","contents":[1]}`, `{"id":"1","text":" "}`, `{"id":"1","text":"x"`, `{"id":"` + strings.Repeat("x", 201) + `","text":"x"}`} {
		list, notes, err := readAll(t, write(t, "c.jsonl", good+bad+"\n"))
		if err != nil || len(list) != 3000 || len(notes) != 1 || !strings.Contains(notes[0], "row 3001") {
			t.Errorf("%.40s: got %d passages, notes %q, %v; want it skipped and told", bad, len(list), notes, err)
		}
		if _, _, err := readAll(t, write(t, "d.jsonl", `{"id":"1","text":"x"}`+"\n"+bad+"\n")); err == nil || !strings.Contains(err.Error(), "row 2") || !strings.Contains(err.Error(), "d.jsonl") {
			t.Errorf("%.40s: one of two: got %v, want an error that names file and row", bad, err)
		}
	}
}

func TestContents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Passage{ID: "1", Title: rapid.StringMatching(`[a-z" ]{0,10}`).Draw(t, "title"), Text: rapid.StringMatching(`[a-z"\n]{0,20}`).Draw(t, "text")}
		if got := FromContents("1", p.Contents()); got.Title != p.Title || got.Text != strings.TrimSpace(p.Text) {
			t.Fatalf("got %+v, want %+v", got, p)
		}
	})
	if got := FromContents("1", Passage{Title: "a\nb", Text: "c"}.Contents()); got.Title != "a b" || got.Text != "c" {
		t.Errorf("got %+v", got)
	}
}
