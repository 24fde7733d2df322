// Package chess_test runs the starting harness on the chess task with a scripted model, by the one episode path, which enforces the task's rules.
package chess_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/task/chess"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// model says its replies in turn. A byte is a token, and 0 ends a message.
type model struct{ replies []string }

func ids(s string) (out []int32) {
	for _, b := range []byte(s) {
		out = append(out, int32(b))
	}
	return append(out, 0)
}

func (m *model) Render(messages []whale.Message, _ []whale.ToolSpec, replies func(whale.ReplyRef) []int32) (out []int32, err error) {
	for _, msg := range messages {
		if msg.Reply != 0 {
			out = append(out, replies(msg.Reply)...)
			continue
		}
		out = append(out, ids(msg.Content)...)
	}
	return out, nil
}

func (m *model) Parse(tokens []int32) (string, []whale.ToolCall) {
	var b strings.Builder
	for _, id := range tokens {
		if id != 0 {
			b.WriteByte(byte(id))
		}
	}
	return b.String(), nil
}

func (m *model) Sample(_ context.Context, r whale.SampleRequest) (whale.Completion, error) {
	if len(m.replies) == 0 {
		return whale.Completion{}, errors.New("more model calls than the script has")
	}
	tokens := ids(m.replies[0])
	m.replies = m.replies[1:]
	lp := make([]float32, len(tokens))
	return whale.Completion{Prompt: r.Prompt, Tokens: tokens, LogProbs: lp, SampleLogProbs: lp, Finish: whale.FinishStop, Weights: m.Weights()}, nil
}

func (m *model) ID() whale.ID                     { return "scripted" }
func (m *model) StopIDs() []int32                 { return []int32{0} }
func (m *model) Count(text string) int            { return len(text) }
func (m *model) Clip(text string, n int) string   { return text[:min(n, len(text))] }
func (m *model) Weights() whale.WeightsRef        { return whale.WeightsRef{ID: "scripted"} }
func (m *model) Capabilities() whale.Capabilities { return whale.Capabilities{MaxContext: 1 << 16} }
func (m *model) Close() error                     { return nil }

// run runs one episode of a harness.
func run(t *testing.T, source string, x whale.Example, replies ...string) (*whale.Rollout, *model) {
	t.Helper()
	program, err := star.Load("h0.star", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	c := chess.DefaultConfig()
	c.Generator.Counts = chess.Counts{Test: 1}
	task, err := chess.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{replies: replies}
	r := &rollout.Runner{Task: task, Policy: m, Concurrency: 1, Limits: whale.Limits{
		Steps: 2_000_000, ModelCalls: 18, ToolCalls: 40, Tokens: 4096, MessageBytes: 64 << 10, LogBytes: 1 << 10, WallSeconds: 60,
	}}
	out, err := r.Run(t.Context(), []rollout.Job{{Harness: program, Example: x, Split: whale.SplitTest, Purpose: whale.PurposeTrial}})
	if err != nil {
		t.Fatal(err)
	}
	return out[0], m
}

func puzzle(t *testing.T, fen string, line ...string) whale.Example {
	t.Helper()
	x, err := chess.Puzzle{FEN: fen, Line: line}.Example()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestStartingHarness(t *testing.T) {
	source, err := os.ReadFile("h0.star")
	if err != nil {
		t.Fatal(err)
	}
	x := puzzle(t, bitboard.Start, "e2e4", "e7e5", "g1f3")
	for _, tc := range []struct {
		name    string
		replies []string
		reward  float64
		reason  string
		told    string // in the last message that the harness wrote
	}{
		{"solves", []string{"I push. <move>e2e4</move>", "<move>g1f3</move>"}, 1, "", "e2e4 is right. The opponent plays e7e5.\nFEN: rnbqkbnr/pppp1ppp/8/4p3/"},
		{"in capitals and with spaces", []string{"<move> E2E4 </move>", "<move>G1F3</move>"}, 1, "", ""},
		{"the last of two tags", []string{"<move>d2d4</move> or <move>e2e4</move>", "<move>g1f3</move>"}, 1, "", ""},
		{"wrong at once", []string{"<move>d2d4</move>"}, 0, chess.ReasonWrong, ""},
		{"wrong later", []string{"<move>e2e4</move>", "<move>d2d4</move>"}, 0, chess.ReasonWrong, ""},
		{"one retry for a tag", []string{"e2e4", "<move>e2e4</move>", "<move>g1f3</move>"}, 1, "", ""},
		{"no second retry for a tag", []string{"e2e4", "e2e4!"}, 0, chess.ReasonNoMove, "Write your move as <move>uci</move>."},
		{"SAN is no UCI", []string{"<move>Nf3</move>", "<move>e4</move>"}, 0, chess.ReasonNoMove, "that is no move in UCI\nWrite your move as <move>uci</move>."},
		{"one retry for an illegal move", []string{"<move>e2e5</move>", "<move>e2e4</move>", "<move>g1f3</move>"}, 1, "", ""},
		{"no second one", []string{"<move>e2e5</move>", "<move>e1e2</move>"}, 0, chess.ReasonNoMove, "e2e5 is not a legal move\nWrite your move as <move>uci</move>."},
		{"retries of both kinds", []string{"hm", "<move>e2e5</move>", "<move>e2e4</move>", "<move>g1f3</move>"}, 1, "", ""},
		{"a tag with a book in it", []string{"<move>" + strings.Repeat("e2e4 ", 400) + "</move>", "<move>e2e4</move>", "<move>g1f3</move>"}, 1, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, m := run(t, string(source), x, tc.replies...)
			if out.State != whale.StateScored {
				t.Fatalf("got state %s: %+v %s", out.State, out.Episode.Failure, out.Error)
			}
			if out.Verdict.Reward != tc.reward || out.Verdict.Reason != tc.reason || len(m.replies) != 0 {
				t.Errorf("got %+v with %d replies unused, want reward %v, reason %q", out.Verdict, len(m.replies), tc.reward, tc.reason)
			}
			e := out.Episode
			if first := e.Calls[0].Messages; len(first) != 1 || !strings.HasPrefix(first[0].Content, "FEN: "+bitboard.Start+"\nBoard:\n8 r n b q") ||
				!strings.Contains(first[0].Content, "\nLegal moves (UCI): a2a3 a2a4 b1a3") || !strings.Contains(first[0].Content, "\nLegal moves (SAN): a3 a4 Na3") {
				t.Errorf("got opening %+v", first)
			}
			last := e.Calls[len(e.Calls)-1].Messages
			if got := last[len(last)-1].Content; !strings.HasPrefix(got, tc.told) {
				t.Errorf("got last message %q, want it to start with %q", got, tc.told)
			}
			if e.Answer != whale.ReplyRef(len(e.Calls)) {
				t.Errorf("got answer %d of %d replies", e.Answer, len(e.Calls))
			}
		})
	}
}

// TestNineTurns: a line of eight moves is within reach of the starting harness, one of ten is not.
func TestNineTurns(t *testing.T) {
	source, err := os.ReadFile("h0.star")
	if err != nil {
		t.Fatal(err)
	}
	var line, replies []string
	for i := range 10 {
		own, reply := []string{"g1f3", "f3g1"}[i%2], []string{"g8f6", "f6g8"}[i%2]
		line = append(line, own, reply)
		replies = append(replies, "<move>"+own+"</move>")
	}
	if out, _ := run(t, string(source), puzzle(t, bitboard.Start, line[:15]...), replies[:8]...); out.Verdict.Reward != 1 {
		t.Errorf("eight moves: got %+v", out.Verdict)
	}
	out, _ := run(t, string(source), puzzle(t, bitboard.Start, line[:19]...), replies...)
	if out.Verdict.Reward != 0 || out.Verdict.Reason != chess.ReasonUnfinished || out.Verdict.Metrics[chess.MetricProgress] != 0.9 {
		t.Errorf("ten moves: got %+v, want an unfinished line after nine", out.Verdict)
	}
}

// TestRules: what a harness may not do with moves, and what it may.
func TestRules(t *testing.T) {
	x := puzzle(t, bitboard.Start, "e2e4")
	const head = "def run(task, model, env):\n    "
	for _, tc := range []struct {
		name, body string
		want       whale.FailReason
	}{
		{"a block, whole", `return model.chat([chat.user("Legal:\n" + env.render("legal_uci") + "\nChoose.")])`, ""},
		{"marks", `return model.chat([chat.user(env.render("observation", marks = True) + "\n" + env.render("legal_san", marks = True))])`, ""},
		{"pieces and history", `return model.chat([chat.user(env.render("pieces") + "\n" + env.render("history") + "\n" + env.render("notation"))])`, ""},
		{"the view", `return model.chat([chat.user(task.side + " to move: " + task.fen)])`, ""},
		{"filtered", `return model.chat([chat.user(env.render("legal_uci").split(" ")[3])])`, whale.FailPlanted},
		{"ranked", `return model.chat([chat.user(" ".join(reversed(env.render("legal_uci").split(" "))))])`, whale.FailPlanted},
		{"a hint in SAN", `return model.chat([chat.user("Consider Nf3.")])`, whale.FailPlanted},
		{"a hint by its square", `return model.chat([chat.user("Look at E4.")])`, whale.FailPlanted},
		{"chosen by the harness", "r = model.chat([chat.user(\"?\")])\n    env.call(\"move\", uci = \"d2d4\")\n    return r", whale.FailAuthored},
		{"not a block", `return model.chat([chat.user(env.render("best_move"))])`, whale.FailContract},
		{"an argument of no block", `return model.chat([chat.user(env.render("fen", marks = True))])`, whale.FailContract},
	} {
		out, _ := run(t, head+tc.body+"\n", x, "<move>e2e4</move>")
		got := whale.FailReason("")
		if f := out.Episode.Failure; f != nil {
			got = f.Reason
		}
		if got != tc.want || out.State == whale.StateError {
			t.Errorf("%s: got %q %+v %s, want %q", tc.name, got, out.Episode.Failure, out.Error, tc.want)
		}
	}
}

// TestConfigs reads the configs beside the harness. The paper's has the paper's settings (section 2).
func TestConfigs(t *testing.T) {
	quick, err := recipe.LoadConfig("quick.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if quick.Task.Kind != recipe.TaskChess || quick.Task.Chess.Source != chess.SourceGenerated {
		t.Errorf("quick.yaml: got task %+v, want generated chess", quick.Task)
	}
	data, err := os.ReadFile("paper.yaml")
	if err != nil {
		t.Fatal(err)
	}
	paper, err := recipe.ParseConfig("paper.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	o := paper.Task.Chess.Lichess
	if c := o.Counts; paper.Task.Chess.Source != chess.SourceLichess || c.Train != 16_384 || c.Search != 256 || c.Test != 256 {
		t.Errorf("paper.yaml: got counts %+v", c)
	}
	if paper.Limits.Tokens != 16_384 || paper.Limits.ModelCalls != 18 || paper.Task.Chess.Retries != (chess.Retries{Format: 10, Illegal: 10}) || paper.Task.Chess.AlternateMates {
		t.Errorf("paper.yaml: got limits %+v, retries %+v", paper.Limits, paper.Task.Chess.Retries)
	}
	if s := paper.Schedule; s.Epochs != 0.6 || s.Sessions != 6 || s.TotalEpochs != 4 || paper.Weight.Batch != 256 || paper.Weight.LearningRate != 1e-7 {
		t.Errorf("paper.yaml: got schedule %+v, weight %+v", s, paper.Weight)
	}
}
