package chess

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	lib "github.com/corentings/chess/v2"

	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// board is a position on which an episode is played. It is for one goroutine.
type board struct {
	position *lib.Position
	moves    []legalMove // sorted by UCI; nil until they are asked for
	named    bool        // SAN has been written, which takes most of the time
}

// legalMove is a move in its notations.
type legalMove struct {
	move   lib.Move
	uci    string
	san    string // without the marks of check and mate: copying the one move with # would solve a puzzle
	marked string // SAN with them
}

// newBoard sets up a FEN. The library's own reader is not used: it keeps its ranks in a variable that all goroutines share, panics on bytes above
// 127, and takes positions without kings. Its binary form has none of these faults.
func newBoard(fen string) (*board, error) {
	p, err := bitboard.Parse(fen)
	if err != nil {
		return nil, err
	}
	position := new(lib.Position)
	data, err := binaryForm(&p)
	if err != nil {
		return nil, err
	}
	if err := position.UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("fen %q: %w", fen, err)
	}
	return &board{position: position}, nil
}

// binaryForm writes a position as the library's UnmarshalBinary reads it: twelve bitboards, half moves, move number, en passant square, flags.
func binaryForm(p *bitboard.Position) ([]byte, error) {
	types := [...]lib.PieceType{
		bitboard.Pawn: lib.Pawn, bitboard.Knight: lib.Knight, bitboard.Bishop: lib.Bishop,
		bitboard.Rook: lib.Rook, bitboard.Queen: lib.Queen, bitboard.King: lib.King,
	}
	pieces := map[lib.Square]lib.Piece{}
	for s := range bitboard.Square(64) {
		kind, side := p.At(s)
		if kind == bitboard.None {
			continue
		}
		color := lib.White
		if side == bitboard.Black {
			color = lib.Black
		}
		pieces[lib.Square(s)] = lib.NewPiece(types[kind], color)
	}
	data, err := lib.NewBoard(pieces).MarshalBinary()
	if err != nil {
		return nil, err
	}
	half, full := p.Counters()
	data = append(data, byte(half))
	data = binary.BigEndian.AppendUint16(data, uint16(full))
	flags := p.Castling() // in the library's order of bits
	if p.Side() == bitboard.Black {
		flags |= 1 << 4
	}
	if p.Passant() != bitboard.NoSquare {
		flags |= 1 << 5
	}
	return append(data, byte(p.Passant()), flags), nil
}

// legal gives the legal moves in UCI, sorted.
func (b *board) legal() []legalMove {
	if b.moves == nil {
		b.moves = []legalMove{}
		for _, m := range b.position.ValidMoves() {
			b.moves = append(b.moves, legalMove{move: m, uci: m.String()})
		}
		slices.SortFunc(b.moves, func(a, c legalMove) int { return strings.Compare(a.uci, c.uci) })
	}
	return b.moves
}

// notated gives the legal moves in all notations.
func (b *board) notated() []legalMove {
	moves := b.legal()
	if b.named {
		return moves
	}
	marks := b.marks()
	for i := range moves {
		m := &moves[i]
		m.san = strings.TrimRight(lib.AlgebraicNotation{}.Encode(b.position, &m.move), "+#")
		m.marked = m.san + marks[m.uci]
	}
	b.named = true
	return moves
}

// marks gives what SAN puts behind the moves that give check or mate, by UCI. The library's own writing of SAN marks some promotions to a knight as
// checks that are none.
func (b *board) marks() map[string]string {
	out := map[string]string{}
	p, err := bitboard.Parse(b.position.String())
	if err != nil {
		return out // the board was set up from such a position, and only legal moves were made
	}
	for m, q := range p.Next() {
		if q.Mated() {
			out[m.String()] = "#"
		} else if q.InCheck() {
			out[m.String()] = "+"
		}
	}
	return out
}

// find gives the legal move of a UCI text.
func (b *board) find(uci string) (legalMove, bool) {
	moves := b.legal()
	i, ok := slices.BinarySearchFunc(moves, uci, func(m legalMove, s string) int { return strings.Compare(m.uci, s) })
	if !ok {
		return legalMove{}, false
	}
	return moves[i], true
}

// play gives the board after a legal move.
func (b *board) play(m legalMove) *board { return &board{position: b.position.Update(&m.move)} }

// mated says whether the side to move is checkmated.
func (b *board) mated() bool { return b.position.Status() == lib.Checkmate }

func (b *board) side() string {
	if b.position.Turn() == lib.White {
		return bitboard.White.String()
	}
	return bitboard.Black.String()
}

// fen names an en passant square only where a pawn can take there, as the views of examples do.
func (b *board) fen() string {
	fields := strings.Split(b.position.String(), " ")
	if !slices.ContainsFunc(b.legal(), func(m legalMove) bool { return m.move.HasTag(lib.EnPassant) }) {
		fields[3] = "-"
	}
	return strings.Join(fields, " ")
}
