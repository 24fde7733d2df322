package star_test

import (
	"errors"
	"testing"

	"github.com/seed-095d5d2b/whale/harness/star"
)

// FuzzPromptOnly asks that any program is prompt-only equal to itself where it is a harness, and that what differs from it in its tree is
// told apart the other way round, too.
func FuzzPromptOnly(f *testing.F) {
	f.Add([]byte(plain), []byte(star.Example))
	f.Add([]byte(plain), []byte(plain+"# more\n"))
	f.Add([]byte("def run(task, model, env): pass"), []byte("def run(task, model, env):\n  (pass)\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var list star.Errors
		if err := star.PromptOnly(a, a); err != nil && errors.As(err, &list) && list[0].Gate == star.GatePromptOnly {
			t.Fatalf("a program differs from itself: %v", err)
		}
		there, back := star.PromptOnly(a, b), star.PromptOnly(b, a)
		if _, err := star.Load("a.star", a); err != nil {
			return
		}
		if _, err := star.Load("b.star", b); err != nil {
			return
		}
		if (there == nil) != (back == nil) {
			t.Fatalf("got %v, and the other way round %v", there, back)
		}
	})
}
