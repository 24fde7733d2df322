package chess

import (
	"math/rand/v2"

	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// filler collects the puzzles of a bucket.
type filler struct {
	options GeneratorOptions
	bucket  string
	buckets task.Buckets
	wanted  []int // by kind, what is left to find
	seen    map[string]bool
	found   []Puzzle
}

// restPlies is how long a game goes on after a puzzle before the next: neighbours are too much alike.
const restPlies = 6

// play plays one game of random moves and keeps the puzzles on its way.
func (f *filler) play(r *rand.Rand) {
	at, err := bitboard.Parse(bitboard.Start)
	if err != nil {
		panic("chess: the initial position: " + err.Error()) // a test parses it
	}
	var buffer [bitboard.MaxMoves]bitboard.Move
	last, next := bitboard.NoMove, f.options.MinPlies
	for ply := range f.options.MaxPlies {
		moves := at.Legal(buffer[:0])
		if len(moves) == 0 {
			return
		}
		if ply >= next && len(moves) > 1 && len(moves) <= f.options.MaxMoves && at.Pieces() <= f.options.MaxPieces && f.take(r, &at, last) {
			next = ply + restPlies
		}
		last = moves[r.IntN(len(moves))]
		at = at.Make(last)
	}
}

// take keeps the position as a puzzle, if it is one that is wanted.
func (f *filler) take(r *rand.Rand, at *bitboard.Position, last bitboard.Move) bool {
	key := at.Key()
	if f.seen[key] || f.buckets.Of(key) != f.bucket {
		return false
	}
	kind, line := f.solve(r, at)
	if line == nil {
		return false
	}
	f.seen[key] = true
	f.wanted[kind]--
	p := Puzzle{FEN: at.FEN(), Meta: map[string]string{MetaKind: kinds()[kind], MetaSource: "generated"}}
	if last != bitboard.NoMove {
		p.Trigger = last.String()
	}
	for _, m := range line {
		p.Line = append(p.Line, m.String())
	}
	f.found = append(f.found, p)
	return true
}

// The kinds as indices of filler.wanted, in the order of kinds.
const (
	mate1 = iota
	mate2
	capture
	threat
)

// solve says which wanted kind a position is, with its line; nil = none.
func (f *filler) solve(r *rand.Rand, at *bitboard.Position) (kind int, line []bitboard.Move) {
	var buffer [bitboard.MaxMoves]bitboard.Move
	mating := matingMoves(at, buffer[:0])
	switch {
	case len(mating) == 1 && f.wanted[mate1] > 0:
		return mate1, []bitboard.Move{mating[0]}
	case len(mating) > 0:
		return 0, nil
	case f.wanted[mate2]+f.wanted[capture]+f.wanted[threat] == 0:
		return 0, nil
	}
	// Mates are looked for also where only wins are wanted: a win of material beside a mate would not be the only right move.
	forcing := forcingMoves(at, 2)
	switch {
	case len(forcing) == 1 && f.wanted[mate2] > 0:
		return mate2, f.mateLine(r, at, forcing[0])
	case len(forcing) > 0 || f.wanted[capture]+f.wanted[threat] == 0:
		return 0, nil
	}
	winning := winningMoves(at, 2)
	if len(winning) != 1 || !wins(at, winning[0], f.options.MinGain) {
		return 0, nil
	}
	m := winning[0]
	switch quiet := !at.Capture(m) && m.Promotion() == bitboard.None; {
	case !quiet && f.wanted[capture] > 0:
		return capture, []bitboard.Move{m}
	case quiet && f.wanted[threat] > 0:
		return threat, f.threatLine(at, m)
	}
	return 0, nil
}

// mateLine continues a mate in two by a reply after which one move alone mates, chosen by chance among these; nil where there is none.
func (f *filler) mateLine(r *rand.Rand, at *bitboard.Position, m bitboard.Move) []bitboard.Move {
	q := at.Make(m)
	var replies, mates [bitboard.MaxMoves]bitboard.Move
	var lines [][]bitboard.Move
	for _, reply := range q.Legal(replies[:0]) {
		after := q.Make(reply)
		if mating := matingMoves(&after, mates[:0]); len(mating) == 1 {
			lines = append(lines, []bitboard.Move{m, reply, mating[0]})
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return lines[r.IntN(len(lines))]
}

// threatLine continues a quiet win by the reply that loses least (the first of these), and by the one move that then wins as much; nil where
// there are several, or a mate.
func (f *filler) threatLine(at *bitboard.Position, m bitboard.Move) []bitboard.Move {
	q := at.Make(m)
	var replies, list [bitboard.MaxMoves]bitboard.Move
	best, least := bitboard.NoMove, mateScore
	var after bitboard.Position
	for _, reply := range q.Legal(replies[:0]) {
		next := q.Make(reply)
		if score := settle(&next, -mateScore, mateScore); score < least {
			best, least, after = reply, score, next
		}
	}
	if best == bitboard.NoMove || len(matingMoves(&after, list[:0])) > 0 {
		return nil
	}
	winning := winningMoves(&after, 2)
	if len(winning) != 1 || !wins(&after, winning[0], f.options.MinGain) || !after.Capture(winning[0]) && winning[0].Promotion() == bitboard.None {
		return nil
	}
	return []bitboard.Move{m, best, winning[0]}
}
