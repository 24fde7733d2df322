package report

import (
	"maps"
	"slices"

	"github.com/seed-095d5d2b/whale/recipe"
)

// Halves is the 2x2 of one cycle on the search split, one draw an example.
type Halves struct {
	Cycle   int     `json:"cycle"`
	Old     float64 `json:"old"`     // old weights, old harness
	Weight  float64 `json:"weights"` // new weights, old harness
	Harness float64 `json:"harness"` // old weights, new harness
	New     float64 `json:"new"`     // new weights, new harness
	Seeds   int     `json:"seeds"`   // averaged over

	// Intervals of one run's four, in their order, over examples. A mean over seeds has none.
	Intervals []Bounds `json:"intervals,omitempty"`
}

// Bounds is a 95% interval.
type Bounds struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func readHalves(h recipe.Halves) Halves {
	out := Halves{Cycle: h.Cycle, Old: h.Cells[0].Mean, Weight: h.Cells[1].Mean, Harness: h.Cells[2].Mean, New: h.Cells[3].Mean, Seeds: 1}
	for _, c := range h.Cells {
		out.Intervals = append(out.Intervals, Bounds{c.Low, c.High})
	}
	return out
}

// meanHalves averages each cycle's 2x2 over the runs that measured it.
func meanHalves(runs []*Run) []Halves {
	byCycle := map[int]Halves{}
	for _, r := range runs {
		for _, h := range r.Halves {
			m := byCycle[h.Cycle]
			byCycle[h.Cycle] = Halves{Cycle: h.Cycle, Old: m.Old + h.Old, Weight: m.Weight + h.Weight, Harness: m.Harness + h.Harness, New: m.New + h.New, Seeds: m.Seeds + 1}
		}
	}
	out := make([]Halves, 0, len(byCycle))
	for _, c := range slices.Sorted(maps.Keys(byCycle)) {
		h := byCycle[c]
		n := float64(h.Seeds)
		out = append(out, Halves{Cycle: c, Old: h.Old / n, Weight: h.Weight / n, Harness: h.Harness / n, New: h.New / n, Seeds: h.Seeds})
	}
	return out
}

// Matrix is every weights with every harness of a run, mean@k on one split.
type Matrix struct {
	Split     string      `json:"split"`
	Draws     int         `json:"draws"`
	Weights   []string    `json:"weights"`   // columns
	Harness   []string    `json:"harness"`   // rows
	Cells     [][]float64 `json:"cells"`     // [harness][weights]
	Intervals [][]Bounds  `json:"intervals"` // of the cells, over examples
}

func readMatrix(m recipe.Matrix) Matrix {
	out := Matrix{Split: string(m.Split), Draws: m.Draws}
	for _, a := range m.Weights {
		out.Weights = append(out.Weights, a.Name)
	}
	for _, a := range m.Harness {
		out.Harness = append(out.Harness, a.Name)
	}
	for _, row := range m.Cells {
		var means []float64
		var bounds []Bounds
		for _, c := range row {
			means = append(means, c.Mean)
			bounds = append(bounds, Bounds{c.Low, c.High})
		}
		out.Cells, out.Intervals = append(out.Cells, means), append(out.Intervals, bounds)
	}
	return out
}
