package calc

import (
	"os"
	"strings"
	"testing"
)

// What CPython 3.11 printed for some hundred expressions, drawn from a grammar or picked for their corners.
func TestPythonTable(t *testing.T) {
	data, err := os.ReadFile("testdata/python.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		src, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue // the heading
		}
		n++
		got, err := Eval("print("+src+")", DefaultLimits)
		switch {
		case want == "!":
			if err == nil {
				t.Errorf("%s: got %q, but Python raises", src, got)
			}
		case err != nil || got != want+"\n":
			t.Errorf("%s: got %q, %v, want %q", src, got, err, want)
		}
	}
	if n < 700 {
		t.Errorf("got %d expressions, want the whole table", n)
	}
}
