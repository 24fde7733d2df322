package conformance_test

import (
	"testing"

	"github.com/seed-095d5d2b/whale/harness/conformance"
	"github.com/seed-095d5d2b/whale/harness/star"
)

func TestStarlarkInProcess(t *testing.T) {
	for _, c := range conformance.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			h, err := star.Load(c.File("star"))
			if err != nil {
				t.Fatal(err)
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
}
