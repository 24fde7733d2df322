package audit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

func TestScratchNatural(t *testing.T) {
	var xs []whale.Example
	r := rand.New(rand.NewPCG(1, 1))
	sent := regexp.MustCompile(`[A-Z][^.?!\n"]{30,200}[.?!]`)
	var files []string
	for _, g := range []string{"/usr/lib/python3.11/*.py", "/usr/lib/python3/dist-packages/*/*.py", "/usr/share/perl/5*/pod/*.pod", "/usr/lib/go*/src/*/*.go", "/usr/local/go/src/*/*.go", "/usr/share/doc/*/*"} {
		f, _ := filepath.Glob(g)
		files = append(files, f...)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		text := strings.ReplaceAll(strings.ReplaceAll(string(b), "\n// ", " "), "\n    ", " ")
		for _, s := range sent.FindAllString(text, 60) {
			w := strings.Fields(s)
			if len(w) < 6 {
				continue
			}
			n := 1 + r.IntN(3)
			k := r.IntN(len(w) - n)
			a := strings.Join(w[k:k+n], " ")
			if r.IntN(10) == 0 {
				a = fmt.Sprint(1850 + r.IntN(170))
			}
			xs = append(xs, whale.Example{ID: fmt.Sprintf("nq-%d", 100000+len(xs)), View: map[string]string{"question": s}, Answer: []byte(fmt.Sprintf("%q", a))})
		}
		if len(xs) > 20000 {
			break
		}
	}
	c, err := NewCorpus(xs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(len(xs), xs[100].View, string(xs[100].Answer))
	fl, _ := filepath.Glob("testdata/dev/ordinary/*.star")
	bad := 0
	for _, f := range fl {
		src, _ := os.ReadFile(f)
		got, _ := c.Audit("x.star", src)
		if len(got) > 0 {
			bad++
			for _, g := range got {
				fmt.Printf("   %s %d:%d %s: %s\n", f, g.Line, g.Col, g.Rule, g.Message)
			}
		}
	}
	fmt.Println("bad", bad)
}
