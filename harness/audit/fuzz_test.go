package audit

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzAudit asks that an audit of any source ends, soon and without a panic, and names places of the source.
func FuzzAudit(f *testing.F) {
	c := factCorpus(f)
	for _, src := range hostile() {
		if len(src) < 2000 {
			f.Add(byte(0), []byte(src))
		}
	}
	for _, pattern := range []string{"../../examples/*/*.star", "../star/*.star", "testdata/dev/ordinary/*-1*.star"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(byte(0), src)
		}
	}
	for name, write := range mutants() {
		src := write([]known{{facts[0][0], facts[0][1]}, {facts[1][0], facts[1][1]}})
		f.Add(byte(len(name)), []byte(src))
	}
	f.Add(byte(1), []byte(pythonHead+pythonRun))
	f.Add(byte(2), []byte("const a = `b${c}d`; /e/.test(task.question) || 'f' + String.fromCharCode(1, 2)"))
	f.Fuzz(func(t *testing.T, kind byte, src []byte) {
		file := []string{"x.star", "x.py", "x.mjs"}[kind%3]
		start := time.Now()
		found, err := c.Audit(file, src)
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("got %v for %d bytes", d, len(src))
		}
		if err != nil && found != nil {
			t.Errorf("got findings and the error %v", err)
		}
		for _, x := range found {
			if x.Line < 1 || x.Col < 1 || x.Message == "" || suggestion(x.Rule) == "" {
				t.Errorf("got %+v", x)
			}
		}
	})
}
