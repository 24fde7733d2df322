package chess

import (
	"context"
	"encoding/json"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

func TestMetrics(t *testing.T) {
	task := smallTask(t, nil)
	x := opening(t)
	for _, c := range []struct {
		name  string
		moves []string
		want  map[string]float64
	}{
		{"nothing", nil, map[string]float64{MetricFormat: 0, MetricFirstRight: 0, MetricProgress: 0, MetricTurns: 0}},
		{"half", []string{"g1f3"}, map[string]float64{MetricFormat: 1, MetricFirstRight: 1, MetricProgress: 0.5, MetricTurns: 1}},
		{"half, then wrong", []string{"g1f3", "a2a3"}, map[string]float64{MetricFormat: 1, MetricFirstRight: 1, MetricProgress: 0.5, MetricTurns: 2}},
		{"mistakes first", []string{"hm", "e1e3", "g1f3", "f1b5"}, map[string]float64{MetricFormat: 0.75, MetricFormatBad: 1, MetricIllegal: 1, MetricFirstRight: 1, MetricProgress: 1, MetricTurns: 4}},
		{"first wrong", []string{"d2d4"}, map[string]float64{MetricFormat: 1, MetricFirstRight: 0, MetricProgress: 0}},
	} {
		v := verify(t, task, x, episodeOf(t, task, x, c.moves...))
		for name, want := range c.want {
			if got := v.Metrics[name]; got != want {
				t.Errorf("%s: %s: got %v, want %v", c.name, name, got, want)
			}
		}
	}
	e := episodeOf(t, task, x, "g1f3")
	e.Calls = append(e.Calls, whale.ModelCall{Text: "no move here", Completion: whale.Completion{Finish: whale.FinishLength}})
	if v := verify(t, task, x, e); v.Reason != ReasonUnfinished || v.Metrics[MetricFormat] != 0.5 || v.Metrics[MetricCutOff] != 1 {
		t.Errorf("a reply without a move: got %+v", v)
	}
}

// TestTextDoesNotCount: neither what the model says nor what a result claims is a move.
func TestTextDoesNotCount(t *testing.T) {
	task := smallTask(t, nil)
	x := opening(t)
	e := &whale.Episode{Calls: []whale.ModelCall{{Text: "<move>g1f3</move>"}, {Text: "<move>f1b5</move>"}}, Answer: 2}
	if v := verify(t, task, x, e); v.Reward != 0 || v.Reason != ReasonNoMove {
		t.Errorf("moves in text alone: got %+v", v)
	}
	e.Tools = []whale.ToolEvent{
		{After: 1, Name: "other", Args: map[string]json.RawMessage{argUCI: []byte(`"g1f3"`)}},
		{After: 1, Name: toolMove, Args: map[string]json.RawMessage{argUCI: []byte(`["g1f3"]`)}},
		{After: 2, Name: toolMove, Args: map[string]json.RawMessage{argUCI: []byte(`"d2d4"`)}, Result: whale.ToolResult{Text: "solved", Data: []byte(`{"status":"solved"}`), Done: true}},
	}
	if v := verify(t, task, x, e); v.Reward != 0 || v.Reason != ReasonWrong {
		t.Errorf("a result that claims success: got %+v", v)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := task.Verifier().Verify(ctx, x, e); err == nil {
		t.Error("an ended context: got a verdict")
	}
}

func TestAlternateMates(t *testing.T) {
	two := Puzzle{FEN: "6k1/5ppp/8/8/8/8/8/RR2K3 w - - 0 1", Line: []string{"a1a8"}}
	strict, loose := smallTask(t, nil), smallTask(t, func(c *Config) { c.AlternateMates = true })
	for _, c := range []struct {
		task *Task
		move string
		want float64
	}{{strict, "a1a8", 1}, {strict, "b1b8", 0}, {loose, "a1a8", 1}, {loose, "b1b8", 1}, {loose, "a1a7", 0}} {
		x := exampleOf(t, two)
		if v := verify(t, c.task, x, episodeOf(t, c.task, x, c.move)); v.Reward != c.want {
			t.Errorf("alternate_mates %v: %s: got %+v, want reward %v", c.task.config.AlternateMates, c.move, v, c.want)
		}
	}
	// Only the last move may be another mate: here it would end the line too early.
	long := exampleOf(t, Puzzle{FEN: "6k1/5ppp/8/7p/8/8/8/RR2K3 w - - 0 1", Line: []string{"e1e2", "h5h4", "b1b8"}})
	if v := verify(t, loose, long, episodeOf(t, loose, long, "a1a8")); v.Reward != 0 || v.Reason != ReasonWrong {
		t.Errorf("a mate before the last move: got %+v", v)
	}
	if v := verify(t, loose, long, episodeOf(t, loose, long, "e1e2", "a1a8")); v.Reward != 1 {
		t.Errorf("another mate as the last move: got %+v", v)
	}
	if strict.Verifier().ID() == loose.Verifier().ID() {
		t.Error("got the same verifier ID with and without alternate mates")
	}
}

func TestChance(t *testing.T) {
	for _, c := range []struct {
		p             Puzzle
		strict, loose float64
	}{
		{Puzzle{FEN: "6k1/5ppp/8/8/8/8/8/RR2K3 w - - 0 1", Line: []string{"a1a8"}}, 1.0 / 21, 2.0 / 21},
		{Puzzle{FEN: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", Line: []string{"e2e4", "e7e5", "g1f3"}}, 1.0 / 20 / 29, 1.0 / 20 / 29},
		{Puzzle{FEN: "6k1/5ppp/8/8/8/8/8/RR2K3 w - - 0 1", Line: []string{"e1e2"}}, 1.0 / 21, 3.0 / 21}, // no mate itself, but two mates would do
	} {
		_, choices, err := c.p.check()
		if err != nil {
			t.Fatal(err)
		}
		legal := len(setUp(t, c.p.FEN).legal())
		if legal != choices[0].legal {
			t.Fatalf("%s: got %d legal moves, want %d", c.p.FEN, choices[0].legal, legal)
		}
		if got := chance(choices, false); got != c.strict {
			t.Errorf("%v: got %v, want %v", c.p.Line, got, c.strict)
		}
		if got := chance(choices, true); got != c.loose {
			t.Errorf("%v with alternate mates: got %v, want %v", c.p.Line, got, c.loose)
		}
	}
}
