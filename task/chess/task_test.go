package chess

import (
	"encoding/json"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

func TestConfig(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		set  func(c *Config)
		want string
	}{
		{func(c *Config) { c.Source = "files" }, `source: got "files"`},
		{func(c *Config) { c.Lichess.Files = []string{"x.csv"} }, "lichess.files: got 1 with source"},
		{func(c *Config) { c.Source = SourceLichess }, "lichess.files: got none"},
		{func(c *Config) { c.Source, c.Lichess.Files = SourceLichess, []string{""} }, "lichess.files[0]: got an empty text"},
		{func(c *Config) { c.Source, c.Lichess.Files, c.Lichess.Counts = SourceLichess, []string{"x"}, Counts{} }, "lichess.counts: got no puzzles"},
		{func(c *Config) {
			c.Source, c.Lichess.Files, c.Lichess.Rating = SourceLichess, []string{"x"}, Range{9, 8}
		}, "lichess.rating.max: got 8"},
		{func(c *Config) {
			c.Source, c.Lichess.Files, c.Lichess.Moves = SourceLichess, []string{"x"}, Range{Min: -1}
		}, "lichess.moves"},
		{func(c *Config) { c.Source, c.Lichess.Files, c.Lichess.MaxBad = SourceLichess, []string{"x"}, 1.5 }, "lichess.max_bad: got 1.5"},
		{func(c *Config) {
			c.Source, c.Lichess.Files, c.Lichess.Themes = SourceLichess, []string{"x"}, []string{"fork", ""}
		}, "lichess.themes[1]"},
		{func(c *Config) { c.Retries.Format = 11 }, "retries.format: got 11, want 0 to 10"},
		{func(c *Config) { c.Retries.Illegal = -1 }, "retries.illegal: got -1"},
		{func(c *Config) { c.Generator.Counts.Test = -1 }, "generator.counts.test: got -1"},
		{func(c *Config) { c.Generator.Counts = Counts{} }, "generator.counts: got no puzzles"},
		{func(c *Config) { c.Generator.Mix = Mix{} }, "generator.mix: got no share"},
		{func(c *Config) { c.Generator.Mix.Mate2 = -1 }, "generator.mix.mate2: got -1, want"},
		{func(c *Config) { c.Generator.MinPlies = 500 }, "generator.min_plies"},
		{func(c *Config) { c.Generator.MaxPlies = 5000 }, "generator.max_plies: got 5000"},
		{func(c *Config) { c.Generator.MaxPieces = 2 }, "generator.max_pieces: got 2"},
		{func(c *Config) { c.Generator.MaxMoves = 1 }, "generator.max_moves: got 1"},
		{func(c *Config) { c.Generator.MinGain = 0 }, "generator.min_gain: got 0"},
	} {
		config := DefaultConfig()
		c.set(&config)
		if _, err := New(t.Context(), config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
}

// TestTask: what a task says of itself, and what its identity depends on.
func TestTask(t *testing.T) {
	small := func(c *Config) { c.Generator.Counts = Counts{Train: 8, Search: 2, Validation: 2, Test: 4} }
	task := smallTask(t, small)
	ids := map[whale.ID]string{task.ID(): "itself"}
	for name, set := range map[string]func(c *Config){
		"seed":      func(c *Config) { c.Generator.Seed = 2 },
		"counts":    func(c *Config) { c.Generator.Counts.Train = 9 },
		"retries":   func(c *Config) { c.Retries.Illegal = 1 },
		"alternate": func(c *Config) { c.AlternateMates = true },
	} {
		other := smallTask(t, func(c *Config) { small(c); set(c) })
		if before, ok := ids[other.ID()]; ok {
			t.Errorf("%s: got the ID of %s", name, before)
		}
		ids[other.ID()] = name
	}
	if again := smallTask(t, small); again.ID() != task.ID() {
		t.Error("got another ID for the same config")
	}
	n := forAll(t, task, func(x whale.Example) {
		if v := verify(t, task, x, episodeOf(t, task, x, solution(lineOf(t, x))...)); v.Reward != 1 {
			t.Errorf("the solution of %v: got %+v", x.View, v)
		}
		view, err := json.Marshal(x.View)
		if err != nil || strings.Contains(string(view), lineOf(t, x)[0]) || len(x.View) != 2 {
			t.Errorf("got view %s", view)
		}
	})
	if n != 16 {
		t.Errorf("got %d examples, want 16", n)
	}
	notes := strings.Join(task.Notes(), "\n")
	p, err := task.RandomBaseline(whale.SplitTest)
	if err != nil || p <= 0 || p > 0.5 || !strings.Contains(notes, "random legal move solves") || !strings.Contains(notes, "of test (exact expectation)") {
		t.Errorf("got baseline %v (%v), notes %q", p, err, notes)
	}
	if p, err := smallTask(t, nil).RandomBaseline(whale.SplitTrain); err != nil || p != 0 {
		t.Errorf("the baseline of an empty split: got %v, %v", p, err)
	}
	if _, err := task.RandomBaseline("exam"); err == nil {
		t.Error("the baseline of an unknown split: got no error")
	}
	if _, err := task.Examples("exam"); err == nil {
		t.Error("an unknown split: got no error")
	}
	about := task.About()
	for _, want := range []string{"task.fen", `env.call("move", uci = …)`, `env.render("observation", marks = False)`, `env.render("pieces")`, "ends the puzzle at once"} {
		if !strings.Contains(about, want) {
			t.Errorf("about: got %q, want %q in it", about, want)
		}
	}
	if m := hit(about); m != "" {
		t.Errorf("about: got the move %q in it, which a harness may not repeat", m)
	}
}
