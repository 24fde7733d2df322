package recipe

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// kindMatrix is the journal entry of a measured matrix.
const kindMatrix = "matrix"

// Matrix is every cycle's weights with every cycle's harness, on one split.
type Matrix struct {
	Split   whale.Split  `json:"split"`
	Draws   int          `json:"draws"`
	Weights []MatrixAxis `json:"weights"` // columns
	Harness []MatrixAxis `json:"harness"` // rows
	Cells   [][]Cell     `json:"cells"`   // [harness][weights]
}

// MatrixAxis names a row or a column.
type MatrixAxis struct {
	Name string   `json:"name"` // "θ0", "θ1", … or "h0", "h1", …
	ID   whale.ID `json:"id"`
	At   string   `json:"at"` // "start", or the curve point or phase after which it stood first
}

// Closes says whether a split is one that the config keeps closed: test, while everything is measured on validation.
func (c EvalConfig) Closes(split whale.Split) bool {
	return split == whale.SplitTest && c.Split != whale.SplitTest
}

// Measure evaluates every weights of the run's phases and marks with every harness of them, k draws an example of a split, as whale matrix
// does; split "" is the run's evaluation.split. The run must be finished. What was measured before is taken from the journal; nothing of the run's
// own results changes.
func (r *Run) Measure(ctx context.Context, split whale.Split, draws int) (Matrix, error) {
	if split == "" {
		split = r.Config.Evaluation.Split
	}
	op := fmt.Sprintf("%s/%d", split, draws)
	var m Matrix
	switch done, err := r.journal.Lookup(ctx, kindMatrix, op, &m); {
	case err != nil:
		return m, err
	case done && (m.Split != split || m.Draws != draws):
		return m, &InputError{fmt.Errorf("matrix %s: the journal has one of the split %q and %d draws by that name; the run directory was changed", op, m.Split, m.Draws)}
	case done:
		return m, nil
	}
	points, err := r.standings(ctx)
	if err != nil {
		return m, err
	}
	m = Matrix{Split: split, Draws: draws}
	var steps []int
	var harnesses []whale.Harness
	for _, p := range points {
		if !has(m.Weights, p.Weights) {
			m.Weights = append(m.Weights, MatrixAxis{fmt.Sprintf("θ%d", len(m.Weights)), p.Weights, p.At})
			steps = append(steps, p.Steps)
		}
		if !has(m.Harness, p.Harness) {
			h, err := r.stored(p.Harness, []byte(p.Source))
			if err != nil {
				return m, err
			}
			m.Harness = append(m.Harness, MatrixAxis{fmt.Sprintf("h%d", len(m.Harness)), p.Harness, p.At})
			harnesses = append(harnesses, h)
		}
	}
	m.Cells = make([][]Cell, len(harnesses))
	for i := range m.Cells {
		m.Cells[i] = make([]Cell, len(steps))
	}
	start := r.opt.Now()
	for column, s := range steps {
		if err := r.matrixColumn(ctx, &m, column, s, harnesses); err != nil {
			return m, err
		}
	}
	if err := r.journal.Record(ctx, kindMatrix, op, m); err != nil {
		return m, err
	}
	return m, r.charge(ctx, "matrix/"+op, string(whale.PurposeMatrix), start)
}

func (r *Run) matrixColumn(ctx context.Context, m *Matrix, column, steps int, harnesses []whale.Harness) error {
	policy, release, err := r.policyAt(ctx, steps)
	if err != nil {
		return err
	}
	runner := r.runner(policy, kindMatrix, 0)
	for row, h := range harnesses {
		res, err := Evaluate(ctx, runner, h, m.Split, whale.PurposeMatrix, m.Draws)
		if err != nil {
			return errors.Join(err, release())
		}
		m.Cells[row][column] = Cell{Weights: policy.Weights().ID, Harness: h.ID(), Result: res}
		r.tell(Event{Kind: EventCell, At: m.Weights[column].Name + " × " + m.Harness[row].Name, Score: &res.Mean})
	}
	return release()
}

// Check says whether the cells are those that the axes name, as of a matrix from a journal that somebody changed they need not be.
func (m Matrix) Check() error {
	whole := len(m.Harness) > 0 && len(m.Weights) > 0 && len(m.Cells) == len(m.Harness)
	for _, row := range m.Cells {
		whole = whole && len(row) == len(m.Weights)
	}
	if !whole {
		return &InputError{fmt.Errorf("matrix: got %d rows for %d harnesses and %d weights, want a row a harness and a cell a weights; the run directory was changed", len(m.Cells), len(m.Harness), len(m.Weights))}
	}
	return nil
}

func has(axis []MatrixAxis, id whale.ID) bool {
	for _, a := range axis {
		if a.ID == id {
			return true
		}
	}
	return false
}

// standings are the pairs at which the run stood: at its start, at marks and after phases, in order. A run that is not finished is refused.
func (r *Run) standings(ctx context.Context) ([]CurvePoint, error) {
	story, err := readStory(ctx, r.store)
	if err != nil {
		return nil, err
	}
	if story.Final == nil {
		return nil, &InputError{fmt.Errorf("%s: the run is not finished; whale resume %s goes on, and its matrix can be measured then", r.store.Dir(), r.store.Dir())}
	}
	points := []CurvePoint{{point: point{At: "start"}, Weights: story.Begin.Weights, Harness: story.Begin.Harness, Source: story.Begin.Source}}
	for _, ph := range story.Phases {
		for _, p := range story.Curve { // marks lie before their phase's end
			if p.Phase == ph.Index && p.At != ph.Name() {
				points = append(points, p)
			}
		}
		at := CurvePoint{point: point{At: ph.Name(), Phase: ph.Index, Steps: ph.To}, Weights: ph.Weights, Harness: ph.Harness, Source: ph.Source}
		if at.Source == "" {
			at.Source = points[len(points)-1].Source // a weight phase leaves the harness alone
		}
		points = append(points, at)
	}
	return points, nil
}
