package chess

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/tasktest"
)

// testdata is the folder with real files.
func testdata(t *testing.T) string { t.Helper(); return tasktest.Data(t, 2) }

const sampleFile = "lichess_puzzles_1500.csv"

// sampleTask loads (nearly) all of the real sample: as many of each split as it has.
func sampleTask(t *testing.T, alternate bool) *Task {
	t.Helper()
	c := DefaultConfig()
	c.Source = SourceLichess
	c.AlternateMates = alternate
	c.Lichess.Files = []string{filepath.Join(testdata(t), sampleFile)}
	probe := newSampler(1, Counts{Train: maxCount, Search: maxCount, Validation: maxCount, Test: maxCount})
	if _, err := readLichess(t.Context(), c.Lichess, probe); err != nil {
		t.Fatal(err)
	}
	c.Lichess.Counts = Counts{
		Train: len(probe.kept[whale.SplitTrain].items), Search: len(probe.kept[whale.SplitSearch].items),
		Validation: len(probe.kept[whale.SplitValidation].items), Test: len(probe.kept[whale.SplitTest].items),
	}
	task, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func forAll(t *testing.T, task *Task, f func(x whale.Example)) (n int) {
	t.Helper()
	for _, s := range splits() {
		examples, err := task.Examples(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range examples {
			f(x)
			n++
		}
	}
	return n
}

// episodeOf plays moves through the environment, each written by the model in a reply of its own.
func episodeOf(t testing.TB, task *Task, x whale.Example, moves ...string) *whale.Episode {
	t.Helper()
	env, err := task.NewEnv(context.Background(), x, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	e := &whale.Episode{View: x.View}
	for i, m := range moves {
		arg, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		args := map[string]json.RawMessage{argUCI: arg}
		result, err := env.Call(context.Background(), toolMove, args)
		if err != nil {
			t.Fatal(err)
		}
		e.Calls = append(e.Calls, whale.ModelCall{Text: "<move>" + m + "</move>"})
		e.Tools = append(e.Tools, whale.ToolEvent{After: whale.ReplyRef(i + 1), Name: toolMove, Args: args, Result: result})
		e.Answer = whale.ReplyRef(i + 1)
	}
	return e
}

func verify(t testing.TB, task *Task, x whale.Example, e *whale.Episode) whale.Verdict {
	t.Helper()
	v, err := task.Verifier().Verify(context.Background(), x, e)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func lineOf(t testing.TB, x whale.Example) []string {
	t.Helper()
	var a answer
	if err := json.Unmarshal(x.Answer, &a); err != nil {
		t.Fatal(err)
	}
	return a.Line
}

// solution gives the solver's moves.
func solution(line []string) (own []string) {
	for i := 0; i < len(line); i += 2 {
		own = append(own, line[i])
	}
	return own
}

// TestSampleReplay replays the solution of every real puzzle, and tries every other legal first move.
func TestSampleReplay(t *testing.T) {
	task := sampleTask(t, false)
	others := 0
	n := forAll(t, task, func(x whale.Example) {
		line := lineOf(t, x)
		e := episodeOf(t, task, x, solution(line)...)
		if v := verify(t, task, x, e); v.Reward != 1 || v.Metrics[MetricProgress] != 1 || v.Metrics[MetricFirstRight] != 1 || v.Metrics[MetricFormat] != 1 {
			t.Fatalf("%s: the solution %v: got %+v", x.Meta[MetaSourceID], line, v)
		}
		for i, call := range e.Tools {
			if done := i == len(e.Tools)-1; call.Result.Done != done || call.Result.Error != "" {
				t.Fatalf("%s: move %d of %v: got %+v", x.Meta[MetaSourceID], i+1, line, call.Result)
			}
		}
		b := setUp(t, x.View[viewFEN])
		for _, m := range b.legal() {
			if m.uci == line[0] {
				continue
			}
			if others++; others%16 == 0 {
				if e := episodeOf(t, task, x, m.uci); !e.Tools[0].Result.Done || verify(t, task, x, e).Reward != 0 {
					t.Fatalf("%s: first move %s instead of %s: got %+v", x.Meta[MetaSourceID], m.uci, line[0], e.Tools[0].Result)
				}
				continue
			}
			// The verifier plays on the same game; what it leaves out is the text of the result, which takes most of the time.
			arg, _ := json.Marshal(m.uci)
			args := map[string]json.RawMessage{argUCI: arg}
			wrong := &whale.Episode{Calls: []whale.ModelCall{{}}, Tools: []whale.ToolEvent{{After: 1, Name: toolMove, Args: args}}}
			if v := verify(t, task, x, wrong); v.Reward != 0 || v.Reason != ReasonWrong || v.Metrics[MetricFirstRight] != 0 || v.Metrics[MetricProgress] != 0 {
				t.Fatalf("%s: first move %s instead of %s: got %+v", x.Meta[MetaSourceID], m.uci, line[0], v)
			}
		}
	})
	if n != 1499 || others < 40_000 {
		t.Errorf("got %d puzzles and %d other first moves, want 1499 and some 45,000", n, others)
	}
	t.Logf("%d puzzles, %d other first moves; %s", n, others, task.baselineNote())
}

// TestSampleAlternateMates: mates in one that Lichess marks have the mates that the board finds, and any of them is right.
func TestSampleAlternateMates(t *testing.T) {
	strict, loose := sampleTask(t, false), sampleTask(t, true)
	if strict.ID() == loose.ID() {
		t.Error("got the same ID with and without alternate mates")
	}
	accepted := 0
	forAll(t, loose, func(x whale.Example) {
		line := lineOf(t, x)
		if len(line) != 1 {
			return
		}
		for _, m := range setUp(t, x.View[viewFEN]).notated() {
			if m.uci == line[0] || m.marked == m.san || m.marked[len(m.marked)-1] != '#' {
				continue
			}
			accepted++
			if v := verify(t, loose, x, episodeOf(t, loose, x, m.uci)); v.Reward != 1 {
				t.Errorf("%s: another mate %s: got %+v, want it accepted", x.Meta[MetaSourceID], m.uci, v)
			}
			if v := verify(t, strict, x, episodeOf(t, strict, x, m.uci)); v.Reward != 0 {
				t.Errorf("%s: another mate %s: got %+v, want it refused with alternate_mates off", x.Meta[MetaSourceID], m.uci, v)
			}
		}
	})
	t.Logf("%d other mates; %s", accepted, loose.baselineNote())
	if accepted == 0 {
		t.Error("got no puzzle with another mate, so nothing was tested")
	}
}
