package process

import (
	"context"
	"os"
	"sync"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/conformance"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// needs skips a test where the language cannot be run here: without its interpreter or without bubblewrap. Where WHALE_REQUIRE_SANDBOX is
// set, as in continuous integration, that is a failure.
func needs(t testing.TB, r *Runtime, language string) {
	t.Helper()
	skip := t.Skipf
	if os.Getenv("WHALE_REQUIRE_SANDBOX") != "" {
		skip = t.Fatalf
	}
	if _, err := r.interpreter(t.Context(), language); err != nil {
		skip("%v", err)
	}
	if why := noBubblewrap(); why != "" {
		skip("%s", why)
	}
}

// noBubblewrap says why programs in other languages cannot run here; "" = they can.
var noBubblewrap = sync.OnceValue(func() string {
	mechanisms, err := sandbox.Probe(context.Background())
	if err != nil {
		return err.Error()
	}
	for _, m := range mechanisms {
		if m.Name == sandbox.MechanismBubblewrap && m.InForce {
			return ""
		}
	}
	return "bubblewrap is not in force"
})

// Whoever is at the host cannot tell one language, or one way of running it, from another.
func TestConformance(t *testing.T) {
	r := open(t, nil)
	for _, language := range []string{whale.LanguageStar, whale.LanguagePython, whale.LanguageNode} {
		t.Run(language, func(t *testing.T) {
			if language != whale.LanguageStar {
				needs(t, r, language)
			}
			for _, c := range conformance.Cases() {
				if !c.In(language) {
					continue
				}
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					name, src := c.File(language)
					var h whale.Harness
					if language == whale.LanguageStar {
						var err error
						if h, err = r.New(name, src); err != nil {
							t.Fatal(err)
						}
					} else {
						h = ungated(t, r, name, src)
					}
					if h.Language() != language {
						t.Errorf("got the language %s, want %s", h.Language(), language)
					}
					differences, err := c.Check(t.Context(), h)
					if err != nil {
						t.Fatal(err)
					}
					for _, d := range differences {
						t.Error(d)
					}
				})
			}
		})
	}
}
