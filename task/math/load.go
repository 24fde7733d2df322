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

// badShare is the share of rows without a usable problem that a file may have.
const badShare = 0.001

// Loaded is what a file holds.
type Loaded struct {
	Examples   []whale.Example
	Lines      []int // of the examples
	Duplicates int   // lines dropped because their text, normalised, was there before with the same answer
	Notes      []string

	conflicts map[string]bool // ids of examples with several answers, where that is no error
}

// Load reads a file of problems: JSONL or CSV (plain, .gz, .zst) or Parquet. A row is an object with "problem" or "question" and "answer" (a string or an integer), and, if the file has
// it, "id"; or it has the layout of verl's data (DAPO-Math-17K): "prompt", a list of messages whose first user message is the problem, and "reward_model" with the "ground_truth"; of
// DAPO's prompts the instructions around the problem are left out.
//
// Empty lines are skipped, repeated problems dropped and counted; a problem that is repeated with another answer is an error, as
// is one that differs in letter case alone. Rows without a usable problem are an error where they are more than 0.1% of all, and else dropped and noted. An error names file and line.
func Load(path string) (Loaded, error) { return load(path, false) }

// load is Load; with drop, problems with several answers are collected and no error.
func load(path string, drop bool) (Loaded, error) {
	c := newCollector(path, drop)
	if filepath.Ext(path) != ".jsonl" {
		if err := c.rows(path); err != nil {
			return Loaded{}, err
		}
		return c.done()
	}
	f, err := os.Open(path)
	if err != nil {
		return Loaded{}, fmt.Errorf("math: %w", task.Away(err))
	}
	defer f.Close()
	if err := c.lines(f); err != nil {
		return Loaded{}, err
	}
	return c.done()
}

// read reads lines from r. The source goes into the examples' Meta, the path into errors.
func read(r io.Reader, source, path string) (Loaded, error) {
	c := newCollector(path, false)
	c.source = source
	if err := c.lines(r); err != nil {
		return Loaded{}, err
	}
	return c.done()
}

// collector gathers the problems of one file.
type collector struct {
	path, source string
	drop         bool
	seen         map[string]place // by example ID, which is that of the normalised text
	all, bad     int              // rows
	first        error            // of the bad ones
	out          Loaded
}

func newCollector(path string, drop bool) *collector {
	return &collector{path: path, source: filepath.Base(path), drop: drop, seen: make(map[string]place), out: Loaded{conflicts: make(map[string]bool)}}
}

// add takes one row.
func (c *collector) add(x whale.Example, line int) error {
	here := place{path: c.path, line: line, example: x}
	before, ok := c.seen[x.ID]
	if !ok {
		c.seen[x.ID] = here
		c.out.Examples = append(c.out.Examples, x)
		c.out.Lines = append(c.out.Lines, line)
		return nil
	}
	if err := here.repeats(before); err != nil {
		if !c.drop {
			return err
		}
		c.out.conflicts[x.ID] = true
		return nil
	}
	c.out.Duplicates++
	return nil
}

// lines reads plain JSONL.
func (c *collector) lines(r io.Reader) error {
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
		c.all++
		x, err := parseRow(line, c.source)
		if err != nil {
			c.bad++
			if c.first == nil {
				c.first = fmt.Errorf("math: %s:%d: %w", c.path, n, err)
			}
			continue
		}
		if err := c.add(x, n); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("math: %s:%d: got a line of more than %d bytes", c.path, n+1, maxLine)
		}
		return fmt.Errorf("math: %s:%d: %w", c.path, n+1, err)
	}
	return nil
}

// done judges the file.
func (c *collector) done() (Loaded, error) {
	if c.bad > 0 {
		if float64(c.bad) > badShare*float64(c.all) {
			if c.bad > 1 {
				return Loaded{}, fmt.Errorf("%w (and %d more of %d rows are bad)", c.first, c.bad-1, c.all)
			}
			return Loaded{}, c.first
		}
		c.out.Notes = append(c.out.Notes, fmt.Sprintf("math: dropped %d of %d rows of %s without a usable problem; the first: %v", c.bad, c.all, c.path, c.first))
	}
	if len(c.out.Examples) == 0 {
		return Loaded{}, fmt.Errorf("math: %s: got no problems, want at least one line", c.path)
	}
	return c.out, nil
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
	return r.example(source)
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
