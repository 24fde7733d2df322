package math

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// maxLine bounds a line of a data file, in bytes.
const maxLine = 1 << 20

// Loaded is what a file holds.
type Loaded struct {
	Examples   []whale.Example
	Lines      []int // of the examples
	Duplicates int   // lines dropped because their text, normalised, was there before with the same answer
}

// row is a line of a data file. Other fields are ignored.
type row struct {
	ID       json.RawMessage `json:"id"`
	Problem  *string         `json:"problem"`
	Question *string         `json:"question"`
	Answer   json.RawMessage `json:"answer"`
}

// Load reads a JSONL file: one object a line with "problem" or "question", "answer" (a string or an integer) and, if the file has
// it, "id". Empty lines are skipped, repeated problems dropped and counted; a problem that is repeated with another answer is an error, as
// is one that differs in letter case alone. An error names file and line.
func Load(path string) (Loaded, error) {
	f, err := os.Open(path)
	if err != nil {
		return Loaded{}, fmt.Errorf("math: %w", err)
	}
	defer f.Close()
	return read(f, filepath.Base(path), path)
}

// read reads lines from r. The source goes into the examples' Meta, the path into errors.
func read(r io.Reader, source, path string) (Loaded, error) {
	var out Loaded
	seen := make(map[string]place) // by normalised text
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // byte order mark
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		x, err := parseRow(line, source)
		if err != nil {
			return Loaded{}, fmt.Errorf("math: %s:%d: %w", path, n, err)
		}
		key := task.Normalize(x.View[viewQuestion])
		here := place{path: path, line: n, example: x}
		if before, ok := seen[key]; ok {
			if err := here.repeats(before); err != nil {
				return Loaded{}, err
			}
			out.Duplicates++
			continue
		}
		seen[key] = here
		out.Examples = append(out.Examples, x)
		out.Lines = append(out.Lines, n)
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return Loaded{}, fmt.Errorf("math: %s:%d: got a line of more than %d bytes", path, n+1, maxLine)
		}
		return Loaded{}, fmt.Errorf("math: %s:%d: %w", path, n+1, err)
	}
	if len(out.Examples) == 0 {
		return Loaded{}, fmt.Errorf("math: %s: got no problems, want at least one line", path)
	}
	return out, nil
}

// place is where a problem was found.
type place struct {
	path    string
	line    int
	split   whale.Split // where it is known
	example whale.Example
}

// repeats refuses a problem that was there before, unless with the same answer.
func (p place) repeats(before place) error {
	if sameAnswer(p.example.Answer, before.example.Answer) {
		return nil
	}
	text, first := p.example.View[viewQuestion], before.example.View[viewQuestion]
	same := "the same problem"
	if task.Normalize(text) == task.Normalize(first) && strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(first), " ") {
		same = "a problem that differs in letter case or spelling alone"
	}
	return fmt.Errorf("math: %s:%d: got answer %s for problem %q, but %s at %s:%d has answer %s", p.path, p.line, clip(string(p.example.Answer)),
		clip(text), same, before.path, before.line, clip(string(before.example.Answer)))
}

func parseRow(line []byte, source string) (x whale.Example, err error) {
	if !utf8.Valid(line) {
		return x, errors.New("got bytes that are not UTF-8")
	}
	var r row
	if err := json.Unmarshal(line, &r); err != nil {
		return x, fmt.Errorf("got a line that is no JSON object of a problem: %w", err)
	}
	text := r.Problem
	switch {
	case r.Problem != nil && r.Question != nil:
		return x, errors.New(`got both "problem" and "question", want one of them`)
	case r.Problem == nil && r.Question == nil:
		return x, errors.New(`got neither "problem" nor "question", want one of them`)
	case r.Problem == nil:
		text = r.Question
	}
	if strings.TrimSpace(*text) == "" {
		return x, errors.New("got an empty problem text")
	}
	answer, err := scalar(r.Answer)
	if err != nil {
		return x, fmt.Errorf(`"answer": %w`, err)
	}
	if canonical(answer) == "" {
		return x, errors.New(`"answer": got an empty text`)
	}
	meta := map[string]string{MetaSource: source}
	if r.ID != nil {
		if meta[MetaSourceID], err = scalar(r.ID); err != nil {
			return x, fmt.Errorf(`"id": %w`, err)
		}
	}
	return example(*text, answer, meta), nil
}

// scalar reads a string, or an integer as it is written.
func scalar(v json.RawMessage) (string, error) {
	if len(v) == 0 {
		return "", errors.New("got nothing, want a string or an integer")
	}
	if v[0] == '"' {
		var s string
		err := json.Unmarshal(v, &s)
		return s, err
	}
	if text := string(v); v[0] == '-' || v[0] >= '0' && v[0] <= '9' {
		if !strings.ContainsAny(text, ".eE") {
			return text, nil
		}
		return "", fmt.Errorf("got the number %s, want a string or an integer", clip(text))
	}
	return "", fmt.Errorf("got %s, want a string or an integer", clip(string(v)))
}

// clip shortens a quotation in an error.
func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}

// The keys of a view and of Meta.
const (
	viewQuestion = "question"
	MetaKind     = "kind"      // KindOneStep or KindTwoStep, of generated problems
	MetaTemplate = "template"  // the wording, of generated problems
	MetaSource   = "source"    // the file's name
	MetaSourceID = "source_id" // the file's own id of the problem
)

// example makes an example whose ID is the hash of its normalised text: the same problem has the same ID wherever it comes from.
func example(text, answer string, meta map[string]string) whale.Example {
	quoted, err := json.Marshal(answer)
	if err != nil {
		panic("math: a string that JSON cannot express: " + err.Error()) // Marshal has no such strings
	}
	return whale.Example{
		ID:     string(whale.HashBytes("math/example", []byte(task.Normalize(text)))),
		View:   map[string]string{viewQuestion: text},
		Answer: quoted,
		Meta:   meta,
	}
}
