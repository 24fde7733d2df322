package chess

import (
	"encoding/json"
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// Status is where a game stands.
type Status string

// The states of a game. All but the first are ends.
const (
	StatusPlaying Status = "playing"
	StatusSolved  Status = "solved"  // the whole line was played
	StatusWrong   Status = "wrong"   // a legal move that is not the line's
	StatusIllegal Status = "illegal" // one illegal move too many
	StatusFormat  Status = "format"  // one text too many that is no move
)

// Retries are the mistakes that do not yet end an episode; the next one does. They are a cap: a harness may give up sooner.
type Retries struct {
	Format  int `json:"format" yaml:"format"`   // texts that are no move in UCI
	Illegal int `json:"illegal" yaml:"illegal"` // moves that are not legal
}

// game is a puzzle being played: the one rule book of environment and verifier.
type game struct {
	board     *board
	reference answer
	at        int // index into the line of the move to find
	played    []string
	left      Retries
	alternate bool // any checkmate is right on the last move
	status    Status
}

func newGame(x whale.Example, retries Retries, alternate bool) (*game, error) {
	g := &game{left: retries, alternate: alternate, status: StatusPlaying}
	if err := json.Unmarshal(x.Answer, &g.reference); err != nil || len(g.reference.Line)%2 == 0 {
		return nil, fmt.Errorf("chess: example %s: got a reference that is no line of odd length", x.ID)
	}
	var err error
	if g.board, err = newBoard(x.View[viewFEN]); err != nil {
		return nil, fmt.Errorf("chess: example %s: %w", x.ID, err)
	}
	return g, nil
}

// turn is what came of one move that was tried.
type turn struct {
	mistake Status // StatusFormat or StatusIllegal where it was one; else ""
	move    string // in UCI, where it was one
	right   bool
	reply   string // the opponent's answer; "" = none
}

// play takes a move as text. It may not be called after the end. An error means that the reference line cannot be played.
func (g *game) play(text string) (turn, error) {
	uci := strings.ToLower(strings.TrimSpace(text))
	if _, err := bitboard.ParseMove(uci); err != nil {
		return g.mistake(StatusFormat, &g.left.Format, turn{}), nil
	}
	m, ok := g.board.find(uci)
	if !ok {
		return g.mistake(StatusIllegal, &g.left.Illegal, turn{move: uci}), nil
	}
	last := g.at == len(g.reference.Line)-1
	next := g.board.play(m)
	t := turn{move: uci, right: uci == g.reference.Line[g.at] || g.alternate && last && next.mated()}
	g.board = next
	g.played = append(g.played, uci)
	switch {
	case !t.right:
		g.status = StatusWrong
		return t, nil
	case last:
		g.status = StatusSolved
		return t, nil
	}
	t.reply = g.reference.Line[g.at+1]
	reply, ok := next.find(t.reply)
	if !ok {
		return t, fmt.Errorf("chess: reply %s of the line is not legal in %q", t.reply, next.fen())
	}
	g.board = next.play(reply)
	g.played = append(g.played, t.reply)
	g.at += 2
	return t, nil
}

// mistake counts one, and ends the game where none is left.
func (g *game) mistake(kind Status, left *int, t turn) turn {
	t.mistake = kind
	if *left == 0 {
		g.status = kind
	} else {
		*left--
	}
	return t
}

func (g *game) done() bool { return g.status != StatusPlaying }

// progress is the share of the solver's moves that were found.
func (g *game) progress() float64 {
	found := g.at / 2
	if g.status == StatusSolved {
		found++
	}
	return float64(found) / float64((len(g.reference.Line)+1)/2)
}
