package chess

import (
	"context"
	"encoding/json"
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// The tool.
const (
	toolMove = "move"
	argUCI   = "uci"
)

func tools() []whale.ToolSpec {
	return []whale.ToolSpec{{
		Name:        toolMove,
		Description: "Plays a move. The opponent answers a right move; a wrong move that is legal ends the puzzle.",
		Parameters: []whale.ToolParameter{{
			Name: argUCI, Type: "string", Required: true, Authored: true,
			Description: "the move in UCI: the square it starts from, the square it goes to, and for a promotion the letter of the new piece",
		}},
	}}
}

// env is an episode's world: one game.
type env struct {
	game  *game
	rules whale.Rules
}

func (e *env) Tools() []whale.ToolSpec { return tools() }

func (e *env) Rules() whale.Rules { return e.rules }

func (e *env) Close() error { return nil }

// Render gives a block of the present position; see blocks.
func (e *env) Render(block string, args map[string]json.RawMessage) (string, error) {
	return render(e.game, block, args)
}

// Call plays a move. The error of the result tells of a mistake, with the move in it, so that it can be shown as it is.
func (e *env) Call(ctx context.Context, name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return whale.ToolResult{}, err
	}
	spec := tools()[0]
	if name != spec.Name {
		return whale.ToolResult{Error: task.UnknownTool(name, tools()), Done: e.game.done()}, nil
	}
	if text := task.CheckArgs(spec, args); text != "" {
		return whale.ToolResult{Error: text, Done: e.game.done()}, nil
	}
	if e.game.done() {
		return whale.ToolResult{Error: "the puzzle has ended", Done: true}, nil
	}
	t, err := e.game.play(moveText(args))
	if err != nil {
		return whale.ToolResult{}, err
	}
	return e.result(t)
}

// moveText gives the argument of a call that has one.
func moveText(args map[string]json.RawMessage) string {
	var text string
	if json.Unmarshal(args[argUCI], &text) != nil {
		return ""
	}
	return text
}

// state is what a result's data holds: what a program may need to decide what to show next. To show it, it renders blocks.
type state struct {
	Status   Status   `json:"status"`
	Mistake  Status   `json:"mistake,omitempty"` // "format" or "illegal"
	Move     string   `json:"move,omitempty"`
	Reply    string   `json:"reply,omitempty"`
	FEN      string   `json:"fen"`
	Side     string   `json:"side"`
	LegalUCI []string `json:"legal_uci"`
	LegalSAN []string `json:"legal_san"` // with the marks of check and mate
	Retries  Retries  `json:"retries"`   // that are left
}

func (e *env) result(t turn) (whale.ToolResult, error) {
	g := e.game
	s := state{Status: g.status, Mistake: t.mistake, Move: t.move, Reply: t.reply, FEN: g.board.fen(), Side: g.board.side(), Retries: g.left}
	for _, m := range g.board.notated() {
		s.LegalUCI, s.LegalSAN = append(s.LegalUCI, m.uci), append(s.LegalSAN, m.marked)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return whale.ToolResult{}, fmt.Errorf("chess: %w", err)
	}
	r := whale.ToolResult{Data: data, Done: g.done()}
	switch {
	case t.mistake == StatusFormat:
		r.Error = "that is no move in UCI"
	case t.mistake == StatusIllegal:
		r.Error = t.move + " is not a legal move"
	case g.status == StatusSolved:
		r.Text = t.move + " is right. The puzzle is solved."
	case g.status == StatusWrong:
		r.Text = t.move + " is wrong. The puzzle has ended."
	default:
		r.Text = t.move + " is right. The opponent plays " + t.reply + "."
	}
	if t.mistake != "" && g.done() {
		r.Error += ", and no further try is left"
	}
	return r, nil
}
