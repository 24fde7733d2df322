package report

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/stats"
	"github.com/seed-095d5d2b/whale/store"
)

// curveRun writes a run directory with the rollouts of some rows, and gives a story with two curve points on two examples.
func curveRun(t *testing.T, rows []store.RolloutRow) *recipe.Story {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	s, err := store.Create(dir, []byte("name: run\n"), store.Options{Now: func() time.Time { return time.Unix(1, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		row.Key, row.State = fmt.Sprint(i), "scored"
		if err := s.PutRollout(t.Context(), row, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	st := &recipe.Story{Dir: dir, Config: recipe.Default()}
	for i, mean := range []float64{0.5, 1} {
		p := recipe.CurvePoint{Weights: whale.ID(fmt.Sprint("θ", i)), Harness: "h0", Test: recipe.Result{Examples: 2, Draws: 1, Mean: mean}}
		p.At = fmt.Sprint("point ", i)
		st.Curve = append(st.Curve, p)
	}
	return st
}

func TestReadCurveRewards(t *testing.T) {
	row := func(weights, example string, draw int, reward float64, purpose string) store.RolloutRow {
		return store.RolloutRow{Purpose: purpose, Weights: weights, Harness: "h0", ExampleID: example, Draw: draw, Reward: &reward, Usage: json.RawMessage("{}")}
	}
	good := func() []store.RolloutRow {
		return []store.RolloutRow{
			row("θ0", "b", 0, 0, "test"), row("θ0", "a", 0, 1, "test"), row("θ1", "a", 0, 1, "test"), row("θ1", "b", 0, 1, "test"),
			row("θ0", "b", 1, 1, "test"), row("θ9", "c", 0, 1, "test"), row("θ0", "c", 0, 1, "validation"), // a later draw, another pair, another purpose
		}
	}
	st := curveRun(t, good())
	if err := readCurveRewards(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(st.TestExamples, st.Curve[0].Test.Rewards, st.Curve[1].Test.Rewards); got != "[a b] [[1] [0]] [[1] [1]]" {
		t.Errorf("got the examples and rewards %s", got)
	}
	st = curveRun(t, good())
	st.Config.Evaluation.Split = whale.SplitValidation
	if err := readCurveRewards(t.Context(), st); err == nil {
		t.Error("evaluation on validation: got the rollouts of test, want an error")
	}
	for _, tc := range []struct {
		name, want string
		rows       func([]store.RolloutRow) []store.RolloutRow
		change     func(*recipe.Story)
	}{
		{name: "one is missing", want: "rollouts of 1 test examples, want the 2", rows: func(r []store.RolloutRow) []store.RolloutRow { return r[1:] }},
		{name: "other examples", want: "rollouts of 2 test examples", change: func(st *recipe.Story) { st.TestExamples = []string{"a", "c"} }},
		{name: "another reward", want: "a mean of 0.5, want the 1", change: func(st *recipe.Story) { st.Curve[0].Test.Mean = 1 }},
		{name: "no number", want: "want the NaN", change: func(st *recipe.Story) { st.Curve[0].Test.Mean = math.NaN() }},
	} {
		rows := good()
		if tc.rows != nil {
			rows = tc.rows(rows)
		}
		st := curveRun(t, rows)
		if tc.change != nil {
			tc.change(st)
		}
		if err := readCurveRewards(t.Context(), st); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "point 0") {
			t.Errorf("%s: got %v, want an error that says %q", tc.name, err, tc.want)
		}
	}
}

// TestCurveBand: the band is the interval of the table's resampling where examples are known, else the range of the seeds, or the point's own interval.
func TestCurveBand(t *testing.T) {
	cells := [][]float64{{1, 0, 1, 0, 1}, {1, 1, 1, 0, 1}}
	at := func(i int) Point {
		return Point{At: "start", Accuracy: []float64{0.6, 0.8}[i], Low: 0.1, High: 0.9, cells: cells[i]}
	}
	a := meanOf(t, []Run{{Curve: []Point{at(0)}}, {Curve: []Point{at(1)}}})
	want, err := stats.SeedsMean(cells, resampleSeed)
	if err != nil {
		t.Fatal(err)
	}
	if a.Band != BandInterval || a.Curve[0].Low != want.Low || a.Curve[0].High != want.High || !near(a.Curve[0].Accuracy, want.Mean) || want.High-want.Low < 0.2 {
		t.Errorf("got %+v, want the interval %+v", a, want)
	}
	bare := at(1)
	bare.cells = nil
	a = meanOf(t, []Run{{Curve: []Point{at(0), at(0)}}, {Curve: []Point{at(1), bare}}})
	if a.Band != BandRange || a.Curve[0].Low != 0.6 || a.Curve[0].High != 0.8 || a.Curve[1].Low != 0.6 {
		t.Errorf("a point without cells: got %+v, want the range of the seeds everywhere", a)
	}
	a = meanOf(t, []Run{{Curve: []Point{bare}}})
	if a.Band != BandInterval || a.Curve[0].Low != 0.1 || a.Curve[0].High != 0.9 {
		t.Errorf("one seed without cells: got %+v, want its own interval", a)
	}
	// Curves that end by rule: at each place the last point of each seed counts.
	late := at(1)
	late.At, late.Rollouts = "0-weight", 10
	end := at(0)
	end.At, end.Rollouts, end.Accuracy, end.cells = "0-weight", 20, 0.8, cells[1]
	a = meanOf(t, []Run{{Curve: []Point{at(0), end}}, {Curve: []Point{at(1), late, {At: "1-harness", Rollouts: 20, Accuracy: 0.8, cells: cells[1]}}}})
	if len(a.Curve) != 3 || a.Curve[1].Rollouts != 10 || a.Curve[1].Low != want.Low || a.Curve[2].Low == want.Low {
		t.Errorf("other points: got %+v", a)
	}
	if err := (&Group{Runs: []Run{{Curve: []Point{at(0)}}, {Curve: []Point{{At: "start", cells: []float64{1}}}}}}).meanCurve(&Arm{Label: "a", runs: []int{0, 1}}); err == nil {
		t.Error("other numbers of examples: got nil, want an error")
	}
}
