package chess

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// smallTask has next to no data; its environment takes any example.
func smallTask(t testing.TB, set func(c *Config)) *Task {
	t.Helper()
	c := DefaultConfig()
	c.Generator.Counts = Counts{Test: 1}
	c.Generator.Mix = Mix{Mate1: 1}
	if set != nil {
		set(&c)
	}
	task, err := New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func exampleOf(t testing.TB, p Puzzle) whale.Example {
	t.Helper()
	x, err := p.Example()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func opening(t testing.TB) whale.Example {
	return exampleOf(t, Puzzle{FEN: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", Trigger: "e7e5", Line: []string{"g1f3", "b8c6", "f1b5"}})
}

func open(t testing.TB, task *Task, x whale.Example) whale.Env {
	t.Helper()
	env, err := task.NewEnv(context.Background(), x, 1)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func call(t testing.TB, env whale.Env, args string) whale.ToolResult {
	t.Helper()
	var parsed map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &parsed); err != nil {
		t.Fatal(err)
	}
	r, err := env.Call(context.Background(), toolMove, parsed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func block1(t testing.TB, env whale.Env, name, args string) string {
	t.Helper()
	var parsed map[string]json.RawMessage
	if err := json.Unmarshal([]byte(args), &parsed); err != nil {
		t.Fatal(err)
	}
	text, err := env.Render(name, parsed)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBlocks(t *testing.T) {
	env := open(t, smallTask(t, nil), exampleOf(t, Puzzle{FEN: "6k1/5ppp/8/8/8/8/1P6/R3K3 w Q - 0 1", Trigger: "f8g8", Line: []string{"a1a8"}}))
	const san = "Ra2 Ra3 Ra4 Ra5 Ra6 Ra7 Ra8 Rb1 Rc1 Rd1 b3 b4 O-O-O Kd1 Kd2 Ke2 Kf1 Kf2"
	for _, c := range []struct{ name, args, want string }{
		{"fen", `{}`, "6k1/5ppp/8/8/8/8/1P6/R3K3 w Q - 0 1"},
		{"placement", `{}`, "6k1/5ppp/8/8/8/8/1P6/R3K3"},
		{"ascii", `{}`, "8 . . . . . . k .\n7 . . . . . p p p\n6 . . . . . . . .\n5 . . . . . . . .\n4 . . . . . . . .\n3 . . . . . . . .\n2 . P . . . . . .\n1 R . . . K . . .\n  a b c d e f g h"},
		{"pieces", `{}`, "White: king e1, rook a1, pawn b2\nBlack: king g8, pawn f7, pawn g7, pawn h7"},
		{"legal_uci", `{}`, "a1a2 a1a3 a1a4 a1a5 a1a6 a1a7 a1a8 a1b1 a1c1 a1d1 b2b3 b2b4 e1c1 e1d1 e1d2 e1e2 e1f1 e1f2"},
		{"legal_san", `{}`, san},
		{"legal_san", `{"marks": false}`, san},
		{"legal_san", `{"marks": true}`, strings.Replace(san, "Ra8", "Ra8#", 1)},
		{"history", `{}`, "opponent: f8g8"},
		{"notation", `{}`, notation},
	} {
		if got := block1(t, env, c.name, c.args); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.name, c.args, got, c.want)
		}
	}
	whole := block1(t, env, "observation", `{}`)
	for _, b := range []string{"fen", "ascii", "legal_uci", "legal_san"} {
		if !strings.Contains(whole, block1(t, env, b, `{}`)) {
			t.Errorf("observation: got %q, want %s in it", whole, b)
		}
	}
	if strings.ContainsAny(whole, "#+") || !strings.Contains(block1(t, env, "observation", `{"marks": true}`), "Ra8#") {
		t.Errorf("observation: got %q; the marks are there by request alone", whole)
	}
	for _, c := range []struct{ name, args, want string }{
		{"board", `{}`, `unknown block "board" (blocks: observation, fen,`},
		{strings.Repeat("x", 5000), `{}`, `unknown block "xxx`},
		{"fen", `{"marks": true}`, `unknown argument "marks"`},
		{"legal_san", `{"marks": "yes"}`, "want boolean"},
		{"legal_san", `{"mark": true}`, `did you mean "marks"?`},
	} {
		var args map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.args), &args); err != nil {
			t.Fatal(err)
		}
		if _, err := env.Render(c.name, args); err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%.20s %s: got error %v, want %q", c.name, c.args, err, c.want)
		}
	}
}

func TestGame(t *testing.T) {
	env := open(t, smallTask(t, nil), opening(t))
	if got := block1(t, env, "history", `{}`); got != "opponent: e7e5" {
		t.Errorf("history at the start: got %q", got)
	}
	r := call(t, env, `{"uci": " G1F3 "}`)
	if r.Done || r.Error != "" || r.Text != "g1f3 is right. The opponent plays b8c6." {
		t.Errorf("a right move: got %+v", r)
	}
	var s state
	if err := json.Unmarshal(r.Data, &s); err != nil {
		t.Fatal(err)
	}
	if s.Status != StatusPlaying || s.Move != "g1f3" || s.Reply != "b8c6" || s.FEN != block1(t, env, "fen", `{}`) || len(s.LegalUCI) != len(s.LegalSAN) || s.Retries.Illegal != 10 {
		t.Errorf("its data: got %+v", s)
	}
	if got := block1(t, env, "history", `{}`); got != "opponent: e7e5\nyou: g1f3\nopponent: b8c6" {
		t.Errorf("history: got %q", got)
	}
	r = call(t, env, `{"uci": "f1b5"}`)
	if !r.Done || r.Error != "" || !strings.Contains(r.Text, "solved") {
		t.Errorf("the last move: got %+v", r)
	}
	fen := block1(t, env, "fen", `{}`)
	if r = call(t, env, `{"uci": "a7a6"}`); !r.Done || r.Error != "the puzzle has ended" || block1(t, env, "fen", `{}`) != fen {
		t.Errorf("a move after the end: got %+v", r)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
}

func TestMistakes(t *testing.T) {
	task := smallTask(t, func(c *Config) { c.Retries = Retries{Format: 1, Illegal: 2} })
	for _, c := range []struct {
		name   string
		moves  []string
		errors []string // the last one ends the puzzle
		reason string
	}{
		{"format", []string{"Nf3", ""}, []string{"that is no move in UCI", "that is no move in UCI, and no further try is left"}, ReasonFormat},
		{"illegal", []string{"g1g3", "e1g1", "e4e5"}, []string{"g1g3 is not a legal move", "e1g1 is not a legal move", "e4e5 is not a legal move, and no further try is left"}, ReasonIllegal},
		{"a promotion that is none", []string{"g1f3q", "e4e5q", "a2a4n"}, []string{"g1f3q is", "e4e5q is", "a2a4n is not a legal move, and"}, ReasonIllegal},
		{"both, in any order", []string{"x", "g1g3", "h9h8"}, []string{"that", "g1g3", "that is no move in UCI, and"}, ReasonFormat},
		{"wrong", []string{"d2d4"}, []string{""}, ReasonWrong},
	} {
		x := opening(t)
		e := episodeOf(t, task, x, c.moves...)
		for i, ev := range e.Tools {
			if !strings.HasPrefix(ev.Result.Error, c.errors[i]) || ev.Result.Done != (i == len(c.moves)-1) {
				t.Errorf("%s: move %d: got %+v, want error %q", c.name, i+1, ev.Result, c.errors[i])
			}
		}
		if v := verify(t, task, x, e); v.Reward != 0 || v.Reason != c.reason {
			t.Errorf("%s: got %+v, want reason %q", c.name, v, c.reason)
		}
	}
}

func TestCallersMistakes(t *testing.T) {
	env := open(t, smallTask(t, nil), opening(t))
	for _, c := range []struct{ args, want string }{
		{`{}`, `missing argument "uci"`},
		{`{"move": "g1f3"}`, `unknown argument "move"`},
		{`{"uci": 5}`, "want string"},
		{`{"uci": null}`, "want string"},
		{`{"uci": "g1f3", "hint": "x"}`, `unknown argument "hint"`},
	} {
		if r := call(t, env, c.args); !strings.Contains(r.Error, c.want) || r.Done {
			t.Errorf("%s: got %+v, want %q", c.args, r, c.want)
		}
	}
	if r, err := env.Call(t.Context(), "moves", nil); err != nil || !strings.Contains(r.Error, `did you mean "move"?`) {
		t.Errorf("another tool: got %+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := env.Call(ctx, toolMove, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: got %v", err)
	}
	if spec := env.Tools()[0]; !spec.Parameters[0].Authored {
		t.Error("the move is not marked as authored")
	}
}

func TestBrokenExamples(t *testing.T) {
	task := smallTask(t, nil)
	for name, x := range map[string]whale.Example{
		"no answer":    {View: map[string]string{viewFEN: bitboard.Start}},
		"an even line": {View: map[string]string{viewFEN: bitboard.Start}, Answer: []byte(`{"line":["e2e4","e7e5"]}`)},
		"no position":  {View: map[string]string{}, Answer: []byte(`{"line":["e2e4"]}`)},
	} {
		if _, err := task.NewEnv(t.Context(), x, 1); err == nil {
			t.Errorf("%s: got an environment", name)
		}
		if _, err := task.Verifier().Verify(t.Context(), x, &whale.Episode{}); err == nil {
			t.Errorf("%s: got a verdict", name)
		}
	}
	broken := whale.Example{View: map[string]string{viewFEN: bitboard.Start}, Answer: []byte(`{"line":["e2e4","e2e4","g1f3"]}`)}
	if _, err := open(t, task, broken).Call(t.Context(), toolMove, map[string]json.RawMessage{argUCI: []byte(`"e2e4"`)}); err == nil {
		t.Error("a reply that is illegal: got no error")
	}
}

// TestEnvironmentAndVerifierAgree plays texts of all kinds: the verifier sees the end that the environment announced.
func TestEnvironmentAndVerifierAgree(t *testing.T) {
	task := smallTask(t, func(c *Config) { c.Retries = Retries{Format: 2, Illegal: 2} })
	x := opening(t)
	move := rapid.OneOf(rapid.SampledFrom([]string{"g1f3", "f1b5", "b8c6", "d2d4", "e1g1", "g1f3 ", "G1F3", "e4", "Nf3", ""}), rapid.StringMatching(`[a-i][0-9][a-h][1-8][qk]?`), rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		e := episodeOf(t, task, x, rapid.SliceOfN(move, 0, 8).Draw(rt, "moves")...)
		v := verify(t, task, x, e)
		last := Status(StatusPlaying)
		for _, ev := range e.Tools {
			var s state
			if ev.Result.Data != nil && json.Unmarshal(ev.Result.Data, &s) == nil {
				last = s.Status
			}
		}
		if (v.Reward == 1) != (last == StatusSolved) || (v.Reason == ReasonWrong) != (last == StatusWrong) || (v.Reason == ReasonFormat) != (last == StatusFormat) || (v.Reason == ReasonIllegal) != (last == StatusIllegal) {
			rt.Fatalf("got verdict %+v, but the environment ended as %s", v, last)
		}
		for name, m := range v.Metrics {
			if m < 0 || name != MetricTurns && name != MetricIllegal && name != MetricFormatBad && m > 1 {
				rt.Fatalf("metric %s: got %v", name, m)
			}
		}
	})
}
