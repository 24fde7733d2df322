package audit

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestScratchHeavy(t *testing.T) {
	cs := scratchCorpora(t)
	src, _ := os.ReadFile("/tmp/heavy.star")
	for k, c := range cs {
		start := time.Now()
		got, err := c.Audit("x.star", src)
		fmt.Println(k, time.Since(start), got, err)
	}
	p := newProgram()
	m := readStar(p, "x.star", src)
	fmt.Println(m, p.spent, len(p.tests), len(p.lookups), len(p.atoms), len(p.tables))
}
