package process

import (
	"fmt"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

func TestCacheKeepsTheLatest(t *testing.T) {
	c := newCache()
	load := func(i, size int) ProgramRef {
		src := fmt.Sprintf("# %d %s\ndef run(task, model, env):\n    pass\n", i, strings.Repeat("x", size))
		ref := ProgramRef{ID: whale.HarnessID([]byte(src)), Name: "h.star"}
		if _, err := c.load(ref, src); err != nil {
			t.Fatal(err)
		}
		return ref
	}
	first := load(0, 0)
	for i := range cachedPrograms {
		if c.get(first) == nil {
			t.Fatalf("the first is gone after %d, although it was asked for", i)
		}
		load(i+1, 0)
	}
	if n := c.order.Len(); n != cachedPrograms || len(c.known) != n {
		t.Errorf("got %d programs and %d names, want %d", n, len(c.known), cachedPrograms)
	}
	second := load(100, 0)
	for i := range 20 {
		load(200+i, 60_000)
	}
	if c.get(second) != nil || c.bytes > cachedBytes || len(c.known) != c.order.Len() {
		t.Errorf("got %d bytes in %d programs, want at most %d", c.bytes, c.order.Len(), cachedBytes)
	}
	// A name is a part of what a program is: positions begin with it.
	ref := load(300, 0)
	if ref.Name = "other.star"; c.get(ref) != nil {
		t.Error("got a program of another name")
	}
}

func TestCacheRefusesAnotherSource(t *testing.T) {
	c := newCache()
	ref := ProgramRef{ID: whale.HarnessID([]byte("a")), Name: "h.star"}
	if _, err := c.load(ref, "def run(task, model, env):\n    pass\n"); err == nil {
		t.Error("got a program that does not have the id of its name")
	}
	if _, err := c.load(ref, "a"); err == nil || c.get(ref) != nil {
		t.Errorf("got %v for what is no program", err)
	}
}
