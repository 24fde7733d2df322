package math

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	data := "\xef\xbb\xbf" + `{"id": "60", "problem": "What is  3 + 5?", "answer": "8"}` + "\r\n\n" +
		`{"id": 7, "question": "Was ist π · 0?", "answer": 0, "level": [1, {"x": null}]}` + "\n" +
		`{"question": "what is 3 + 5?", "answer": "08"}` + "\n" +
		`{"question": "WHAT IS 3 + 5?", "answer": " 8 "}` + "\n" +
		`{"question": "What is 3 - 5?", "answer": -2}`
	got, err := read(strings.NewReader(data), "a.jsonl", "dir/a.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if got.Duplicates != 2 || !slices.Equal(got.Lines, []int{1, 3, 6}) {
		t.Errorf("got %d duplicates and lines %v, want 2 and 1, 3, 6", got.Duplicates, got.Lines)
	}
	want := []struct{ question, answer, id string }{
		{"What is  3 + 5?", `"8"`, "60"}, {"Was ist π · 0?", `"0"`, "7"}, {"What is 3 - 5?", `"-2"`, ""},
	}
	if len(got.Examples) != len(want) {
		t.Fatalf("got %d examples, want %d", len(got.Examples), len(want))
	}
	for i, w := range want {
		x := got.Examples[i]
		if x.View["question"] != w.question || len(x.View) != 1 || string(x.Answer) != w.answer || x.Meta[MetaSourceID] != w.id || x.Meta[MetaSource] != "a.jsonl" {
			t.Errorf("example %d: got %+v, want %+v", i, x, w)
		}
	}
	if a, b := example("What is 3 + 5?", "8", nil), got.Examples[0]; a.ID != b.ID {
		t.Error("the same problem from elsewhere: got another ID")
	}
}

func TestReadHostile(t *testing.T) {
	good := `{"problem": "p", "answer": "1"}` + "\n"
	for _, c := range []struct{ name, data, want string }{
		{"empty file", "", "f.jsonl: got no problems"},
		{"blank lines", "\n \n", "got no problems"},
		{"not JSON", good + "hello\n", "f.jsonl:2: got a line that is no JSON object"},
		{"cut off", good + `{"problem": "p`, "f.jsonl:2:"},
		{"two objects", good + `{"problem": "q", "answer": "1"} {}`, "f.jsonl:2:"},
		{"array", `[1]`, "f.jsonl:1:"},
		{"null", `null`, `f.jsonl:1: got neither "problem" nor "question"`},
		{"no text", `{"answer": "1"}`, `got neither "problem" nor "question"`},
		{"both texts", `{"problem": "p", "question": "q", "answer": "1"}`, `got both "problem" and "question"`},
		{"empty text", `{"problem": " ", "answer": "1"}`, "empty problem text"},
		{"text of another type", `{"problem": 5, "answer": "1"}`, "f.jsonl:1:"},
		{"no answer", `{"problem": "p"}`, `"answer": got nothing, want a string or an integer`},
		{"null answer", `{"problem": "p", "answer": null}`, `"answer": got null`},
		{"empty answer", `{"problem": "p", "answer": " "}`, `"answer": got an empty text`},
		{"dollars alone", `{"problem": "p", "answer": "$$"}`, `"answer": got an empty text`},
		{"fraction", `{"problem": "p", "answer": 2.5}`, `"answer": got the number 2.5, want a string or an integer`},
		{"exponent", `{"problem": "p", "answer": 1e400}`, `"answer": got the number 1e400`},
		{"list answer", `{"problem": "p", "answer": ["1"]}`, `"answer": got ["1"]`},
		{"object id", `{"id": {}, "problem": "p", "answer": "1"}`, `"id": got {}`},
		{"not UTF-8", "{\"problem\": \"\xff\", \"answer\": \"1\"}", "f.jsonl:1: got bytes that are not UTF-8"},
		{"long line", good + `{"problem": "` + strings.Repeat("x", maxLine) + `", "answer": "1"}`, "f.jsonl:2: got a line of more than"},
		{"deep", `{"problem": "p", "answer": "1", "x": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "f.jsonl:1:"},
		{"binary", "\x00\x01\x02", "f.jsonl:1:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(strings.NewReader(c.data), "f.jsonl", "f.jsonl")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got error %v, want one with %q", err, c.want)
			}
			if len(err.Error()) > 300 || strings.Contains(err.Error(), "\n") {
				t.Errorf("got error %q, want one short line", err)
			}
		})
	}
}

func TestLoadPath(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "none.jsonl")); err == nil || !strings.Contains(err.Error(), "none.jsonl") {
		t.Errorf("missing file: got error %v", err)
	}
	if _, err := Load(dir); err == nil {
		t.Error("a folder: got no error")
	}
	path := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(path, []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path+":1:") {
		t.Errorf("got error %v, want one with file and line", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"id": "60", "problem": "p", "answer": "8"}` + "\n" + `{"question": "q", "answer": -2}`)
	f.Add("\xef\xbb\xbf{}")
	f.Add(`{"problem": "\ud800", "answer": "\u0000"}`)
	f.Fuzz(func(t *testing.T, data string) {
		got, err := read(strings.NewReader(data), "f", "f")
		if err != nil {
			return
		}
		seen := make(map[string]bool)
		for _, x := range got.Examples {
			if seen[x.ID] {
				t.Errorf("example %s: got it twice", x.ID)
			}
			seen[x.ID] = true
			v := &verifier{}
			if _, err := v.Verify(t.Context(), x, replies("")); err != nil {
				t.Errorf("loaded example is not verifiable: %v", err)
			}
		}
	})
}
