package compare_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-095d5d2b/whale/harness/compare"
)

// FuzzCompare compares what nobody has vetted: it must not panic, a program must be the same as itself, and both ways must agree on whether
// two programs do the same.
func FuzzCompare(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/a.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		a, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		ext := filepath.Ext(path)
		b, err := filepath.Glob(filepath.Join(filepath.Dir(path), "b.*"))
		if err != nil || len(b) != 1 {
			f.Fatalf("%v, %v", b, err)
		}
		other, err := os.ReadFile(b[0])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ext, a, other)
	}
	f.Add(".star", []byte("x = [\n1,\n2]; y = 3"), []byte("x = (\"é\" +\n 'b'); def f(): pass"))
	f.Fuzz(func(t *testing.T, ext string, a, b []byte) {
		left, right := compare.Source{Name: "a" + ext, Text: a}, compare.Source{Name: "b" + ext, Text: b}
		d, err := compare.Compare(left, right)
		if err != nil {
			return
		}
		back, err := compare.Compare(right, left)
		if err != nil || back.Same != d.Same || len(back.Prompts) != len(d.Prompts) || len(back.Constants) != len(d.Constants) {
			t.Errorf("got %s, and the other way round %s, %v", d.Summary, back.Summary, err)
		}
		if _, err := d.JSON(); err != nil || d.Text() == "" {
			t.Error(err)
		}
		self, err := compare.Compare(left, left)
		if err != nil || self.Summary != "the same program, to the byte" || len(self.Functions)+len(self.Moved)+len(self.Lines) > 0 {
			t.Errorf("a program differs from itself: %s, %v", self.Summary, err)
		}
	})
}
