package star

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// chunk is one program of a chunked test file, with the errors that it expects beside the lines that cause them.
type chunk struct {
	source string // padded with newlines, so that its line numbers are the file's
	want   map[int]string
	line   int
}

// chunks splits a file at lines of "---" and reads the marks "### error".
func chunks(t *testing.T, file string) []chunk {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []chunk
	line := 1
	for part := range strings.SplitSeq(string(data), "\n---\n") {
		c := chunk{source: strings.Repeat("\n", line-1) + part, want: map[int]string{}, line: line}
		for i, l := range strings.Split(part, "\n") {
			if _, want, ok := strings.Cut(l, "### "); ok {
				c.want[line+i] = want
			}
		}
		out = append(out, c)
		line += strings.Count(part, "\n") + 2
	}
	return out
}

func TestLoadChunks(t *testing.T) {
	all := chunks(t, "testdata/load.star")
	if len(all) < 40 {
		t.Fatalf("got %d chunks, want at least 40", len(all))
	}
	for _, c := range all {
		name := fmt.Sprintf("load.star:%d", c.line)
		_, err := Load("load.star", []byte(c.source))
		if err == nil {
			if len(c.want) > 0 {
				t.Errorf("%s: it loads, want %v", name, c.want)
			}
			continue
		}
		found, ok := err.(Errors)
		if !ok {
			t.Errorf("%s: got the error %v of type %T, want Errors", name, err, err)
			continue
		}
		for _, e := range found {
			line := e.Line
			if c.want[line] == "" && line == 1 { // a missing run has no line of its own
				line = c.line
			}
			want, ok := c.want[line]
			got := fmt.Sprintf("%s: %s", e.Gate, strings.SplitN(e.Error(), ": ", 2)[1])
			gate, text, _ := strings.Cut(want, ": ")
			if !ok || string(e.Gate) != gate || !strings.Contains(got, text) {
				t.Errorf("%s:\n got %s: %s\nwant %s", name, e.Gate, e, want)
			}
			if strings.Contains(e.Error(), "\n") {
				t.Errorf("%s: the error %q has several lines", name, e.Error())
			}
			delete(c.want, line)
		}
		for line, want := range c.want {
			t.Errorf("load.star:%d: no error, want %s", line, want)
		}
	}
}
