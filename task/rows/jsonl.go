package rows

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// jsonl reads one JSON object a line.
type jsonl struct{ lines *lines }

func openJSONL(in io.ReadCloser, most int) source { return &jsonl{newLines(in, most)} }

func (j *jsonl) next() (fields, int64, error) {
	for {
		line, err := j.lines.next()
		if err != nil {
			return nil, j.lines.number, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		f, err := parseObject(line)
		return f, j.lines.number, err
	}
}

func (j *jsonl) total() (int64, bool) { return 0, false }
func (j *jsonl) close() error         { return j.lines.close() }

// parseObject reads a JSON object's fields. What it gives does not share memory with the text.
func parseObject(line []byte) (fields, error) {
	if !utf8.Valid(line) {
		return nil, badf("got bytes that are not UTF-8")
	}
	if line[0] != '{' {
		return nil, badf("got %q, want a JSON object", clip(string(line[:min(len(line), 80)])))
	}
	var f fields
	if err := json.Unmarshal(line, &f); err != nil {
		return nil, &badRow{err}
	}
	return f, nil
}
