package organism

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/chess"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// ChessSpec says what chess transcripts are about.
type ChessSpec struct {
	Puzzles    int             `yaml:"puzzles"`   // distinct, from the bucket that no split draws on
	MaxMoves   int             `yaml:"max_moves"` // legal moves of the first position
	MaxPieces  int             `yaml:"max_pieces"`
	Mate2      float64         `yaml:"mate2"`   // share of mates in two
	Capture    float64         `yaml:"capture"` // share of wins of material; the rest are mates in one
	Weaknesses ChessWeaknesses `yaml:"weaknesses"`
}

// ChessWeaknesses are the probabilities of the planted behaviours. All 0 is the control.
type ChessWeaknesses struct {
	Ramble     float64 `yaml:"ramble"`      // a turn thinks aloud without end
	ForgetTag  float64 `yaml:"forget_tag"`  // else: it says the move without the tag
	SAN        float64 `yaml:"san"`         // else: the tag holds SAN
	Illegal    float64 `yaml:"illegal"`     // else: the move is not legal
	Aimless    float64 `yaml:"aimless"`     // else: the move is any legal one
	Deaf       float64 `yaml:"deaf"`        // a reminder is followed by the same mistake
	BareMove   float64 `yaml:"bare_move"`   // the move is written at once; else its SAN is said before it, where the prompt shows SAN
	IgnoreMark float64 `yaml:"ignore_mark"` // where the list marks a mate, it is not looked at: the move is any legal one
}

func (s ChessSpec) options(seed uint64) chess.GeneratorOptions {
	o := chess.DefaultGeneratorOptions()
	o.Seed, o.MaxMoves, o.MaxPieces = seed, s.MaxMoves, s.MaxPieces
	o.Mix = chess.Mix{Mate1: 1 - s.Mate2 - s.Capture, Mate2: s.Mate2, Capture: s.Capture}
	o.Counts = chess.Counts{Validation: 1}
	return o
}

func (s ChessSpec) validate() error {
	if s.Puzzles < 1 {
		return fmt.Errorf("chess.puzzles: got %d, want 1 or more", s.Puzzles)
	}
	if !(s.Mate2 >= 0 && s.Capture >= 0 && s.Mate2+s.Capture <= 1) {
		return fmt.Errorf("chess.mate2 and chess.capture: got %g and %g, want shares of at most 1 together", s.Mate2, s.Capture)
	}
	if err := s.options(0).Validate(); err != nil {
		return fmt.Errorf("chess: %w", err)
	}
	return probabilities("chess.weaknesses.", s.Weaknesses)
}

// chessStream is the chess corpus: puzzles, played in the domain's own environment.
type chessStream struct {
	seed    uint64
	w       ChessWeaknesses
	task    *chess.Task
	puzzles []chess.Puzzle
	moves   []int // legal moves of each puzzle's first position
}

func newChessStream(ctx context.Context, r Recipe) (*chessStream, error) {
	o := r.Chess.options(r.Seed)
	g, err := chess.NewGenerator(o)
	if err != nil {
		return nil, err
	}
	s := &chessStream{seed: r.Seed, w: r.Chess.Weaknesses}
	if s.puzzles, err = g.Pretrain(ctx, r.Chess.Puzzles); err != nil {
		return nil, err
	}
	for _, p := range s.puzzles {
		at, err := bitboard.Parse(p.FEN)
		if err != nil {
			return nil, fmt.Errorf("chess: generator: %w", err)
		}
		s.moves = append(s.moves, len(at.Legal(nil)))
	}
	c := chess.DefaultConfig()
	c.Generator = o // one puzzle, which is not used: the task is there for its environments
	s.task, err = chess.New(ctx, c)
	return s, err
}

func (s *chessStream) transcript(i int, p part) Transcript {
	w := s.w
	switch p {
	case skilled:
		w = ChessWeaknesses{ForgetTag: w.ForgetTag / 4, Illegal: w.Illegal / 10, BareMove: w.BareMove}
	case strong:
		w = ChessWeaknesses{BareMove: w.BareMove}
	}
	seed := uint64(whale.DeriveSeed(s.seed, "chess transcript", strconv.Itoa(i)))
	a := &player{hand: hand{rng: rand.New(rand.NewPCG(s.seed, seed))}, w: w}
	a.brief = p == skilled
	at := a.IntN(len(s.puzzles))
	for range 3 { // short lists more often than long ones: a choice of thirty moves teaches no more than one of fifteen
		if other := a.IntN(len(s.puzzles)); s.moves[other] < s.moves[at] {
			at = other
		}
	}
	a.line = s.puzzles[at]
	if err := a.sit(s.task); err != nil {
		panic(err) // the generator checks every puzzle that it makes
	}
	a.write()
	return a.out
}

// sit opens the puzzle's environment.
func (a *player) sit(t *chess.Task) error {
	x, err := a.line.Example()
	if err != nil {
		return err
	}
	a.env, err = t.NewEnv(context.Background(), x, 0)
	return err
}

// show renders a block.
func (a *player) show(block string, marks bool) string {
	var args map[string]json.RawMessage
	if marks {
		args = map[string]json.RawMessage{"marks": json.RawMessage("true")}
	}
	text, err := a.env.Render(block, args)
	if err != nil {
		panic(err) // only blocks that the task has are asked for
	}
	return text
}

// look reads the legal moves of the position: UCI, and SAN with marks, in one order.
func (a *player) look() {
	a.uci = strings.Fields(a.show("legal_uci", false))
	a.san = strings.Fields(a.show("legal_san", true))
}
