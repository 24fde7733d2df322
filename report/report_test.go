package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/recipe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func build(t *testing.T, stories []*recipe.Story) *Report {
	t.Helper()
	r, err := Build(stories)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (g *Group) find(arm, kind string) (Row, bool) {
	for _, r := range g.Table {
		if r.Arm == arm && r.Kind == kind {
			return r, true
		}
	}
	return Row{}, false
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestNumbers checks the table against what the stories say.
func TestNumbers(t *testing.T) {
	stories := small()
	r := build(t, stories)
	if len(r.Groups) != 1 {
		t.Fatalf("got %d groups, want one task", len(r.Groups))
	}
	g := &r.Groups[0]
	if len(g.Runs) != len(stories) || len(g.Arms) != 3 || g.Examples != 12 || g.Reference != recipe.MethodWhale {
		t.Fatalf("got %d runs, %d arms, %d examples, reference %q", len(g.Runs), len(g.Arms), g.Examples, g.Reference)
	}
	mean := func(method, pair string) (sum float64) {
		n := 0
		for _, st := range stories {
			if p, ok := st.FinalPair(pair); ok && st.Method() == method {
				sum += p.Mean
				n++
			}
		}
		return sum / float64(n)
	}
	for kind, pair := range map[string]string{RowFinal: recipe.PairFinal, RowValidation: recipe.PairBestValidation, RowWeights: recipe.PairWeights, RowHarness: recipe.PairHarness} {
		for _, m := range []string{recipe.MethodWhale, recipe.MethodWeightOnly, recipe.MethodHarnessOnly} {
			row, ok := g.find(m, kind)
			if !ok || !near(row.Mean, mean(m, pair)) || row.Draws != 2 || len(row.Seeds) != 2 || row.Low > row.Mean || row.High < row.Mean {
				t.Errorf("%s, %s: got %+v, want mean %v of 2 seeds", m, kind, row, mean(m, pair))
			}
		}
	}
	// The base is one for all methods: a seed counts once, not once a method.
	base, ok := g.find("", RowBase)
	if !ok || len(base.Seeds) != 2 {
		t.Errorf("base: got %+v, want two seeds", base)
	}
	whale, _ := g.find(recipe.MethodWhale, RowFinal)
	for _, d := range g.Differences {
		if d.Kind != RowFinal {
			continue
		}
		other, _ := g.find(d.Second, RowFinal)
		if d.First != recipe.MethodWhale || !near(d.Mean, whale.Mean-other.Mean) || len(d.Seeds) != 2 || !(d.P > 0 && d.P <= 1) || d.Low > d.Mean || d.High < d.Mean {
			t.Errorf("difference: got %+v, want %v", d, whale.Mean-other.Mean)
		}
	}
	if len(g.Differences) != 2*3 {
		t.Errorf("got %d differences, want those to two methods in three pairs", len(g.Differences))
	}
	if g.Chance == nil || *g.Chance != 0.05 {
		t.Errorf("got chance %v, want 0.05", g.Chance)
	}
	if a := g.Arms[0]; a.Ledger["proposer"]["usd"] != 1 || a.Spent != 1024+896+6 || a.Start["turns"] != 2.25 {
		t.Errorf("whale: got ledger %v, %v rollouts spent", a.Ledger, a.Spent)
	}
}

// TestUnfinishedIsShown: a run that is not finished is listed with how far it is, and is in no table.
func TestUnfinishedIsShown(t *testing.T) {
	g := &build(t, small()).Groups[0]
	i := slices.IndexFunc(g.Runs, func(r Run) bool { return !r.Finished })
	if i < 0 || g.Runs[i].Unfinished != "after phase 2-weight; 4 steps and 2 sessions made; no final table" {
		t.Fatalf("got %+v, want the unfinished run and how far it is", g.Runs)
	}
	if a := g.Arms[0]; !slices.Equal(a.Seeds, []uint64{1, 2}) || !slices.Equal(a.Open, []uint64{3}) {
		t.Errorf("got seeds %v and %v, want 1, 2 finished and 3 open", a.Seeds, a.Open)
	}
	if !slices.ContainsFunc(g.Notes, func(n string) bool { return strings.Contains(n, "whale seed 3 (after phase 2-weight") }) {
		t.Errorf("got the notes %q, want one of the unfinished run", g.Notes)
	}
	only := build(t, []*recipe.Story{fake{method: recipe.MethodWhale, seed: 1, gain: 0.5, cycles: 2, steps: 2, sessions: 1, open: 1}.story()})
	if g := only.Groups[0]; len(g.Table) != 0 || len(g.Runs) != 1 || g.Reference != "" {
		t.Errorf("only an unfinished run: got %+v", g)
	}
}

// TestTasksApart: runs of two tasks are two groups.
func TestTasksApart(t *testing.T) {
	stories := small()
	other := fake{method: recipe.MethodWhale, seed: 1, gain: 0.5, cycles: 1, examples: 5, draws: 2, steps: 2, sessions: 1}.story()
	other.Begin.Task = id("another task")
	r := build(t, append(stories, other))
	if len(r.Groups) != 2 || len(r.Groups[0].Runs) != 7 || len(r.Groups[1].Runs) != 1 || r.Groups[1].Examples != 5 {
		t.Fatalf("got %d groups, want the two tasks apart", len(r.Groups))
	}
	if n := r.Groups[1].Notes; len(n) != 1 || !strings.Contains(n[0], "one finished seed") {
		t.Errorf("got the notes %q, want that of one seed", n)
	}
}

func TestRefused(t *testing.T) {
	one := func(seed uint64) *recipe.Story {
		return fake{method: recipe.MethodWhale, seed: seed, gain: 0.5, cycles: 1, examples: 4, draws: 1, steps: 1, sessions: 1}.story()
	}
	examples := one(2)
	examples.TestExamples = []string{"test-0000", "test-0001", "test-0002", "test-9999"}
	broken := one(1)
	broken.Final[3].Rewards[0][0] = 2
	for _, tc := range []struct {
		name    string
		stories []*recipe.Story
		want    string
	}{
		{"none", nil, "got no runs"},
		{"one seed twice", []*recipe.Story{one(1), one(1)}, "are both whale with seed 1"},
		{"other examples", []*recipe.Story{one(1), examples}, `other test examples: 4 and 4, of which 1 are only in the first and 1 only in the second ("test-0003", for one)`},
		{"no reward", []*recipe.Story{broken}, "want 0 to 1"},
	} {
		if _, err := Build(tc.stories); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want an error that says %q on one line", tc.name, err, tc.want)
		}
	}
}

// TestArms: a method with two schedules is two arms, which say what sets them apart; what only decides speed makes none.
func TestArms(t *testing.T) {
	var stories []*recipe.Story
	for _, epochs := range []float64{0.2, 0.6} {
		for seed := range uint64(2) {
			st := fake{method: recipe.MethodWhale, seed: seed + 1, gain: 0.5, cycles: 1, examples: 4, draws: 1, steps: 1, sessions: 1}.story()
			st.Config.Schedule.Epochs = epochs
			st.Config.Concurrency = int(seed) + 7
			stories = append(stories, st)
		}
	}
	g := &build(t, stories).Groups[0]
	var labels []string
	for _, a := range g.Arms {
		labels = append(labels, a.Label)
		if len(a.Seeds) != 2 {
			t.Errorf("%s: got seeds %v, want two", a.Label, a.Seeds)
		}
	}
	if want := []string{"whale [schedule.epochs=0.2]", "whale [schedule.epochs=0.6]"}; !slices.Equal(labels, want) {
		t.Errorf("got arms %q, want %q", labels, want)
	}
	if got, want := g.Runs[3].Differs, []string{"schedule.epochs: 0.2 → 0.6", "seed: 1 → 2"}; !slices.Equal(got, want) {
		t.Errorf("got the differences %q, want %q", got, want)
	}
	// Other weights at the start are another arm, and another base.
	stories[2].Begin.Weights, stories[3].Begin.Weights = id("other"), id("other")
	stories[2].Config.Schedule.Epochs, stories[3].Config.Schedule.Epochs = 0.2, 0.2
	g = &build(t, stories).Groups[0]
	if len(g.Arms) != 2 || !strings.Contains(g.Arms[1].Label, "θ0="+id("other").Short()) || g.Table[0].Kind != RowBase || g.Table[1].Kind != RowBase {
		t.Errorf("got %d arms, %+v, want two with a base each", len(g.Arms), g.Table[:2])
	}
}

// TestPairedOnCommonSeeds: a comparison takes the seeds that both have, and none where there is none.
func TestPairedOnCommonSeeds(t *testing.T) {
	at := func(method string, seed uint64) *recipe.Story {
		return fake{method: method, seed: seed, gain: 0.5, cycles: 1, examples: 6, draws: 2, steps: 1, sessions: 1}.story()
	}
	g := &build(t, []*recipe.Story{at("whale", 1), at("whale", 2), at("fst", 2), at("fst", 3), at("stagewise", 9)}).Groups[0]
	for _, d := range g.Differences {
		if d.Second != "fst" || len(d.Seeds) != 1 || d.Seeds[0].Seed != 2 {
			t.Errorf("got %+v, want whale minus fst on seed 2", d)
		}
	}
	if len(g.Differences) != 3 || !slices.ContainsFunc(g.Notes, func(n string) bool { return strings.Contains(n, "stagewise have no finished seed in common") }) {
		t.Errorf("got %d differences and the notes %q", len(g.Differences), g.Notes)
	}
}

// meanOf is the arm of some runs, with its mean curve.
func meanOf(t *testing.T, runs []Run) Arm {
	t.Helper()
	g := &Group{Runs: runs, Arms: []Arm{{Label: "a"}}}
	for i := range runs {
		g.Arms[0].runs = append(g.Arms[0].runs, i)
	}
	if err := g.meanCurve(&g.Arms[0]); err != nil {
		t.Fatal(err)
	}
	return g.Arms[0]
}

// TestMeanCurve has curves with equal points, and curves of phases that ended by rule.
func TestMeanCurve(t *testing.T) {
	run := func(points ...Point) Run { return Run{Curve: points} }
	mean := func(runs ...Run) []Mean {
		a := meanOf(t, runs)
		if a.Band != BandRange {
			t.Errorf("points without cells: got the band %q, want the range of the seeds", a.Band)
		}
		return a.Curve
	}
	at := func(name string, rollouts int, accuracy float64) Point {
		return Point{At: name, Rollouts: rollouts, Accuracy: accuracy}
	}
	equal := mean(run(at("start", 0, 0.1), at("0-weight", 100, 0.3)), run(at("start", 0, 0.2), at("0-weight", 120, 0.5)), run())
	if len(equal) != 2 || !near(equal[0].Accuracy, 0.15) || equal[1].Rollouts != 110 || !near(equal[1].Accuracy, 0.4) {
		t.Errorf("equal points: got %v", equal)
	}
	other := mean(run(at("start", 0, 0.1), at("0-weight", 100, 0.3), at("1-harness", 300, 0.7)), run(at("start", 0, 0.2), at("0-weight", 200, 0.4)))
	want := []Mean{{0, 0.15, 0.1, 0.2}, {100, 0.25, 0.2, 0.3}, {200, 0.35, 0.3, 0.4}} // 300 is beyond the second's end
	if !slices.EqualFunc(other, want, func(a, b Mean) bool {
		return a.Rollouts == b.Rollouts && near(a.Accuracy, b.Accuracy) && a.Low == b.Low && a.High == b.High
	}) {
		t.Errorf("other points: got %v, want %v", other, want)
	}
}

// TestPassing: the first point at the level counts, as a share of the other method's whole spending.
func TestPassing(t *testing.T) {
	g := &Group{
		Runs: []Run{
			{Seed: 7, Curve: []Point{{Rollouts: 0, Accuracy: 0.1}, {Rollouts: 50, Accuracy: 0.4}, {Rollouts: 80, Accuracy: 0.3}, {Rollouts: 100, Accuracy: 0.6}}},
			{Seed: 1, Curve: []Point{{Rollouts: 0, Accuracy: 0.1}, {Rollouts: 200, Accuracy: 0.4}}},
			{Seed: 2, Curve: []Point{{Rollouts: 0, Accuracy: 0.2}, {Rollouts: 80, Accuracy: 0.3}, {Rollouts: 120, Accuracy: 0.7}}},
		},
		Arms: []Arm{{Label: "a", Seeds: []uint64{1}, Spent: 100, Final: 0.6, runs: []int{0}}, {Label: "b", Seeds: []uint64{1}, Spent: 200, Final: 0.4, runs: []int{1, 2}}},
	}
	for i := range g.Arms {
		if err := g.meanCurve(&g.Arms[i]); err != nil {
			t.Fatal(err)
		}
	}
	g.passing()
	if len(g.Passing) != 2 {
		t.Fatalf("got %+v", g.Passing)
	}
	if p := g.Passing[0]; p.Arm != "b" || p.Of != "a" || p.Rollouts != nil || p.Share != nil || p.Reached != 1 || p.Seeds != 2 {
		t.Errorf("b never reaches a: got %+v", p)
	} else if s := p.BySeed; len(s) != 2 || s[0].Seed != 1 || s[0].Rollouts != nil || s[1].Seed != 2 || *s[1].Rollouts != 120 || *s[1].Share != 1.2 {
		t.Errorf("of b only seed 2 reaches a, after 120: got %+v", s)
	}
	if p := g.Passing[1]; p.Arm != "a" || p.Of != "b" || *p.Rollouts != 50 || *p.Share != 0.25 || p.Reached != 1 || p.BySeed[0].Seed != 7 || *p.BySeed[0].Rollouts != 50 {
		t.Errorf("a reaches b after 50: got %+v", p)
	}
	rows := g.passingRows()
	if got := rows[1][6]; got != "1: never, 2: 120" {
		t.Errorf("by seed: got %q, want never and 120", got)
	}
}
