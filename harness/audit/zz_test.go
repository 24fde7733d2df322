package audit_test

import (
	"strings"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	c := corpora(t)["math"]
	src := "x = 1" + strings.Repeat("+1", 16000) + "\ndef run(task, model, env):\n    pass\n# the end\n"
	s := time.Now()
	f, err := c.Audit("a.star", []byte(src))
	t.Log(time.Since(s), len(f), err)
}
