package chess

import (
	"encoding/json"
	"fmt"
	"maps"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// Puzzle is a position with the line that solves it.
type Puzzle struct {
	FEN     string            `json:"fen"`               // what the solver sees
	Trigger string            `json:"trigger,omitempty"` // the move that led there, in UCI, where it is known
	Line    []string          `json:"line"`              // in UCI: solver, opponent, solver, …; of odd length
	Meta    map[string]string `json:"meta,omitempty"`    // for reports: the Meta keys below
}

// The keys of a view and of Meta.
const (
	viewFEN  = "fen"
	viewSide = "side"

	MetaKind     = "kind"      // of a generated puzzle: one of the kinds; of another: mate or win
	MetaThemes   = "themes"    // of Lichess
	MetaRating   = "rating"    // of Lichess
	MetaSource   = "source"    // the file's name, or "generated"
	MetaSourceID = "source_id" // the file's own id of the puzzle
	MetaMoves    = "moves"     // moves of the solver
)

// maxLine bounds a line, in plies. Lichess's longest has some thirty.
const maxLine = 64

// answer is an example's reference, hidden from the agent.
type answer struct {
	Trigger string   `json:"trigger,omitempty"`
	Line    []string `json:"line"`
}

// SolverMoves is how many moves the solver has to find.
func (p Puzzle) SolverMoves() int { return (len(p.Line) + 1) / 2 }

// replay plays the line, with each of its moves legal. It gives the position's normal form. visit, where there is one, sees every move of the solver with
// the positions before and after it.
func (p Puzzle) replay(visit func(i int, before, after *bitboard.Position)) (key string, err error) {
	at, err := bitboard.Parse(p.FEN)
	if err != nil {
		return "", err
	}
	if n := len(p.Line); n%2 == 0 || n > maxLine {
		return "", fmt.Errorf("line: got %d moves, want an odd number of at most %d", n, maxLine)
	}
	key = at.Key()
	for i, text := range p.Line {
		m, err := bitboard.ParseMove(text)
		if err != nil {
			return "", fmt.Errorf("line: move %d: %w", i+1, err)
		}
		if !at.IsLegal(m) {
			return "", fmt.Errorf("line: move %d: got %s, which is not legal in %q", i+1, m, at.FEN())
		}
		next := at.Make(m)
		if i%2 == 0 && visit != nil {
			visit(i, &at, &next)
		}
		at = next
	}
	return key, nil
}

// choice is one decision of the solver.
type choice struct {
	legal  int  // legal moves
	mates  bool // whether the line's move mates
	mating int  // on the last move: how many legal moves mate
}

// check plays the line and tells of the solver's decisions.
func (p Puzzle) check() (key string, choices []choice, err error) {
	var buffer [bitboard.MaxMoves]bitboard.Move
	key, err = p.replay(func(i int, before, after *bitboard.Position) {
		c := choice{legal: len(before.Legal(buffer[:0])), mates: after.Mated()}
		if i == len(p.Line)-1 {
			c.mating = len(matingMoves(before, buffer[:0]))
		}
		choices = append(choices, c)
	})
	return key, choices, err
}

// Example gives the puzzle as an example of a task. Its ID is the hash of the position's normal form.
func (p Puzzle) Example() (whale.Example, error) {
	x, _, err := p.example()
	return x, err
}

func (p Puzzle) example() (whale.Example, []choice, error) {
	key, choices, err := p.check()
	if err != nil {
		return whale.Example{}, nil, err
	}
	at, err := bitboard.Parse(p.FEN)
	if err != nil {
		return whale.Example{}, nil, err
	}
	reference, err := json.Marshal(answer{Trigger: p.Trigger, Line: p.Line})
	if err != nil {
		return whale.Example{}, nil, err
	}
	meta := maps.Clone(p.Meta)
	if meta == nil {
		meta = map[string]string{}
	}
	meta[MetaMoves] = fmt.Sprint(p.SolverMoves())
	return whale.Example{
		ID:     string(whale.HashBytes("chess/example", []byte(key))),
		View:   map[string]string{viewFEN: at.FEN(), viewSide: at.Side().String()},
		Answer: reference,
		Meta:   meta,
	}, choices, nil
}
