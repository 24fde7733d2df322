package chess

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// filler collects puzzles by bucket.
type filler struct {
	options GeneratorOptions
	buckets task.Buckets
	wanted  map[string][]int // by bucket and kind, what is left to find
	left    int              // in all
	seen    map[string]bool
	found   map[string][]Puzzle
}

func newFiller(o GeneratorOptions, wanted map[string]int) *filler {
	f := &filler{options: o, buckets: generatedBuckets(), wanted: map[string][]int{}, seen: map[string]bool{}, found: map[string][]Puzzle{}}
	for bucket, n := range wanted {
		f.wanted[bucket] = quotas(o.Mix.shares(), n)
		f.left += n
	}
	return f
}

// wanting tells what is left to find, for an error.
func (f *filler) wanting() string {
	var parts []string
	for _, b := range f.buckets {
		for kind, n := range f.wanted[b.Name] {
			if n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s of %s", n, kinds()[kind], b.Name))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// everyPlies is how far apart the positions of a game are that are looked at: neighbours are too much alike. It is odd, so that both sides have their share.
const everyPlies = 3

// play plays one game of random moves and keeps the puzzles on its way.
func (f *filler) play(r *rand.Rand) {
	at, err := bitboard.Parse(bitboard.Start)
	if err != nil {
		panic("chess: the initial position: " + err.Error()) // a test parses it
	}
	last := bitboard.NoMove
	for ply := range f.options.MaxPlies {
		if ply >= f.options.MinPlies && (ply-f.options.MinPlies)%everyPlies == 0 && at.Pieces() <= f.options.MaxPieces {
			f.take(&at, last)
		}
		m, ok := at.Choose(r.IntN)
		if !ok {
			return
		}
		last, at = m, at.Make(m)
	}
}

// take keeps the position as a puzzle, if it is one that is wanted.
func (f *filler) take(at *bitboard.Position, last bitboard.Move) {
	var buffer [bitboard.MaxMoves]bitboard.Move
	if n := len(at.Legal(buffer[:0])); n < 2 || n > f.options.MaxMoves {
		return
	}
	key := at.Key()
	bucket := f.buckets.Of(key)
	wanted := f.wanted[bucket]
	if wanted == nil || f.seen[key] {
		return
	}
	kind, line := f.solve(wanted, at)
	if line == nil {
		return
	}
	f.seen[key] = true
	wanted[kind]--
	f.left--
	p := Puzzle{FEN: at.FEN(), Meta: map[string]string{MetaKind: kinds()[kind], MetaSource: "generated"}}
	if last != bitboard.NoMove {
		p.Trigger = last.String()
	}
	for _, m := range line {
		p.Line = append(p.Line, m.String())
	}
	f.found[bucket] = append(f.found[bucket], p)
}

// The kinds as indices of filler.wanted, in the order of kinds.
const (
	mate1 = iota
	mate2
	capture
	threat
)

// solve says which wanted kind a position is, with its line; nil = none. What is not wanted is not looked for, but changes nothing in what is.
func (f *filler) solve(wanted []int, at *bitboard.Position) (kind int, line []bitboard.Move) {
	var buffer [bitboard.MaxMoves]bitboard.Move
	mating := matingMoves(at, buffer[:0])
	switch {
	case len(mating) == 1 && wanted[mate1] > 0:
		return mate1, []bitboard.Move{mating[0]}
	case len(mating) > 0:
		return 0, nil
	case wanted[mate2]+wanted[capture]+wanted[threat] == 0:
		return 0, nil
	}
	// Mates are looked for also where only wins are wanted: a win of material beside a mate would not be the only right move.
	forcing := forcingMoves(at, 2)
	switch {
	case len(forcing) == 1 && wanted[mate2] > 0:
		return mate2, f.mateLine(at, forcing[0])
	case len(forcing) > 0 || wanted[capture]+wanted[threat] == 0:
		return 0, nil
	}
	winning := winningMoves(at, 2)
	if len(winning) != 1 || !wins(at, winning[0], f.options.MinGain) {
		return 0, nil
	}
	m := winning[0]
	switch quiet := !at.Capture(m) && m.Promotion() == bitboard.None; {
	case !quiet && wanted[capture] > 0:
		return capture, []bitboard.Move{m}
	case quiet && wanted[threat] > 0:
		return threat, f.threatLine(at, m)
	}
	return 0, nil
}

// mateLine continues a mate in two by a reply after which one move alone mates; nil where there is none. Of several, the position and the
// seed choose, not the order of moves.
func (f *filler) mateLine(at *bitboard.Position, m bitboard.Move) []bitboard.Move {
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
	return lines[source(f.options.Seed, at.Key()).IntN(len(lines))]
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
