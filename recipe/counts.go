package recipe

import (
	"fmt"
	"strings"

	"github.com/seed-095d5d2b/whale"
)

// DeclaredCounts are what the author says the splits hold: `whale plan` counts with them where the data is not on the machine, and where it is, it must agree.
type DeclaredCounts struct {
	Train      int `yaml:"train"`      // examples of weight phases (D_weight); 0 = nothing is said
	Search     int `yaml:"search"`     // examples of harness phases (D_harness); 0 = nothing is said
	Validation int `yaml:"validation"` // examples that no phase uses; 0 = nothing is said
	Test       int `yaml:"test"`       // examples of curves and of the final table; 0 = nothing is said
}

// maxDeclared is more than the data of any such task; a plan's other factors times it fit an int.
const maxDeclared = 100_000_000

// declaredCount is a split's number under its key.
type declaredCount struct {
	split          whale.Split
	declared, read int
}

func (d DeclaredCounts) against(n Counts) []declaredCount {
	return []declaredCount{
		{whale.SplitTrain, d.Train, n.Train}, {whale.SplitSearch, d.Search, n.Search},
		{whale.SplitValidation, d.Validation, n.Validation}, {whale.SplitTest, d.Test, n.Test},
	}
}

// check compares what is declared with what was read.
func (d DeclaredCounts) check(n Counts) error {
	for _, c := range d.against(n) {
		if c.declared != 0 && c.declared != c.read {
			return configErrorf("task.counts.%s: got %d, and the data has %d; correct the key or the data", c.split, c.declared, c.read)
		}
	}
	return nil
}

// counts are the sizes to plan with where the data was not read.
func (d DeclaredCounts) counts() (Counts, error) {
	var missing []string
	for _, c := range d.against(Counts{}) {
		if c.declared == 0 && c.split != whale.SplitValidation {
			missing = append(missing, "task.counts."+string(c.split))
		}
	}
	if len(missing) > 0 {
		return Counts{}, fmt.Errorf("to plan without the data, say in %s what it holds", strings.Join(missing, ", "))
	}
	return Counts(d), nil
}
