package task

import whale "github.com/seed-095d5d2b/whale"

// Counts says how many examples each split has.
type Counts struct {
	Train      int `json:"train" yaml:"train"`           // of weight phases (D_weight)
	Search     int `json:"search" yaml:"search"`         // of harness phases (D_harness)
	Validation int `json:"validation" yaml:"validation"` // for whale eval; no phase uses them
	Test       int `json:"test" yaml:"test"`             // of curves and of the final table
}

// Of gives the count of a split, and whether there is such a split.
func (c Counts) Of(s whale.Split) (int, bool) {
	switch s {
	case whale.SplitTrain:
		return c.Train, true
	case whale.SplitSearch:
		return c.Search, true
	case whale.SplitValidation:
		return c.Validation, true
	case whale.SplitTest:
		return c.Test, true
	}
	return 0, false
}
