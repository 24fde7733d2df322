package audit

import (
	"slices"
	"sync"
	"testing"
)

// TestConcurrent lets many audits use one corpus at once: each must say what it says alone.
func TestConcurrent(t *testing.T) {
	c := factCorpus(t)
	var list []known
	for _, f := range facts {
		list = append(list, known{f[0], f[1]})
	}
	want := map[string][]Finding{}
	sources := map[string]string{}
	for name, write := range mutants() {
		sources[name] = write(list[:6])
		found, err := c.Audit("x.star", []byte(sources[name]))
		if err != nil {
			t.Fatal(err)
		}
		want[name] = found
	}
	var wg sync.WaitGroup
	for name, src := range sources {
		wg.Go(func() {
			found, err := c.Audit("x.star", []byte(src))
			if err != nil || !slices.Equal(found, want[name]) {
				t.Errorf("%s: got %v, %v", name, found, err)
			}
		})
	}
	wg.Wait()
}
