package recipe

import (
	"testing"

	"github.com/seed-095d5d2b/whale/sandbox"
)

func TestIsolationIsTold(t *testing.T) {
	there := sandbox.Mechanism{Name: "seccomp", InForce: true, Detail: "a filter"}
	missing := sandbox.Mechanism{Name: "landlock", Detail: "the kernel has none"}
	for _, c := range []struct {
		all   []sandbox.Mechanism
		want  string
		whole bool
	}{
		{[]sandbox.Mechanism{there}, "isolation of harness programs and tools: seccomp", true},
		{[]sandbox.Mechanism{there, missing}, "isolation of harness programs and tools: seccomp; missing here: landlock (the kernel has none); --require-sandbox refuses to run without", false},
		{[]sandbox.Mechanism{missing}, "isolation of harness programs and tools: nothing is in force; missing here: landlock (the kernel has none); --require-sandbox refuses to run without", false},
	} {
		if got, whole := describeIsolation(c.all); got != c.want || whole != c.whole {
			t.Errorf("got %q, %v, want %q, %v", got, whole, c.want, c.whole)
		}
	}
}
