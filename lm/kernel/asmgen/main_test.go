package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommittedFilesAreCurrent(t *testing.T) {
	for _, s := range sets() {
		files, err := generate(s)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 2 {
			t.Errorf("%s: got %d files, want 2", s.name, len(files))
		}
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join("..", name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what asmgen writes: run go generate in lm/kernel", name)
			}
		}
	}
}

// A return with dirty upper halves slows every later SSE instruction many times over.
func TestEveryReturnClearsUpperHalves(t *testing.T) {
	for _, s := range sets() {
		files, err := generate(s)
		if err != nil {
			t.Fatal(err)
		}
		var before string
		returns := 0
		for line := range strings.Lines(string(files[s.file+".s"])) {
			line = strings.TrimSpace(line)
			if line == "RET" {
				returns++
				if before != "VZEROUPPER" {
					t.Errorf("%s: RET after %q, want VZEROUPPER", s.name, before)
				}
			}
			before = line
		}
		if want := s.rows*s.vecs + 16; returns < want {
			t.Errorf("%s: got %d returns, want at least %d", s.name, returns, want)
		}
	}
}
