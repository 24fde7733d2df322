package bitboard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Start is the FEN of the initial position.
const Start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

// The bounds of a FEN's counters and of its length.
const (
	maxHalf = 255
	maxFull = 9999
	maxFEN  = 100
)

// Parse reads a FEN of six fields. It refuses what cannot arise: not one king a side, pawns on the first or last rank, more than sixteen pieces
// a side, the side to move able to take the king, castling rights without king and rook in place, an en passant square without its pawn.
func Parse(fen string) (Position, error) {
	p := Position{passant: NoSquare}
	if len(fen) > maxFEN {
		return p, fmt.Errorf("fen: got %d bytes, want at most %d", len(fen), maxFEN)
	}
	fields := strings.Split(fen, " ")
	if len(fields) != 6 {
		return p, fmt.Errorf("fen %q: got %d fields, want 6", fen, len(fields))
	}
	if err := p.parseBoard(fields[0]); err != nil {
		return p, fmt.Errorf("fen %q: %w", fen, err)
	}
	switch fields[1] {
	case "w":
	case "b":
		p.side = Black
	default:
		return p, fmt.Errorf("fen %q: side: got %q, want w or b", fen, fields[1])
	}
	for _, err := range []error{p.parseCastling(fields[2]), p.parsePassant(fields[3]), p.parseCounters(fields[4], fields[5]), p.check()} {
		if err != nil {
			return p, fmt.Errorf("fen %q: %w", fen, err)
		}
	}
	return p, nil
}

func (p *Position) parseBoard(s string) error {
	ranks := strings.Split(s, "/")
	if len(ranks) != 8 {
		return fmt.Errorf("board: got %d ranks, want 8", len(ranks))
	}
	for i, rank := range ranks {
		file, digit := 0, false
		for _, c := range []byte(rank) {
			if c >= '1' && c <= '8' && !digit {
				file += int(c - '0')
				digit = true
				continue
			}
			kind := strings.IndexByte(letters, c|0x20)
			if kind < 0 || file > 7 {
				return fmt.Errorf("board: rank %d: got %q", 8-i, rank)
			}
			side := White
			if c&0x20 != 0 {
				side = Black
			}
			b := bit(Square(8*(7-i) + file))
			p.kinds[kind] |= b
			p.sides[side] |= b
			file, digit = file+1, false
		}
		if file != 8 {
			return fmt.Errorf("board: rank %d: got %q of %d squares, want 8", 8-i, rank, file)
		}
	}
	return nil
}

func (p *Position) parseCastling(s string) error {
	if s == "-" {
		return nil
	}
	at := -1
	for _, c := range []byte(s) {
		i := strings.IndexByte("KQkq", c)
		if i <= at {
			return fmt.Errorf("castling: got %q, want some of KQkq in order, or -", s)
		}
		at = i
		side, king, rook := White, Square(4), Square(7)
		if i&1 != 0 {
			rook = 0
		}
		if i >= 2 {
			side, king, rook = Black, king+56, rook+56
		}
		if p.kinds[King]&p.sides[side]&bit(king) == 0 || p.kinds[Rook]&p.sides[side]&bit(rook) == 0 {
			return fmt.Errorf("castling: got %q without king and rook in place", s)
		}
		p.castle |= 1 << uint(i)
	}
	if s == "" {
		return errors.New("castling: got nothing, want some of KQkq, or -")
	}
	return nil
}

func (p *Position) parsePassant(s string) error {
	if s == "-" {
		return nil
	}
	rank, pawn, start := byte('6'), Square(-8), Square(8)
	if p.side == Black {
		rank, pawn, start = '3', 8, -8
	}
	if len(s) != 2 || s[1] != rank {
		return fmt.Errorf("en passant: got %q, want a square of rank %c, or -", s, rank)
	}
	sq, ok := parseSquare(s[0], s[1])
	if !ok {
		return fmt.Errorf("en passant: got %q, want a square", s)
	}
	if p.kinds[Pawn]&p.sides[p.side.Other()]&bit(sq+pawn) == 0 || p.occupied()&(bit(sq)|bit(sq+start)) != 0 {
		return fmt.Errorf("en passant: got %q, but no pawn can have just passed it", s)
	}
	p.passant = sq
	return nil
}

func (p *Position) parseCounters(half, full string) error {
	h, err := strconv.ParseUint(half, 10, 16)
	if err != nil || h > maxHalf {
		return fmt.Errorf("half moves: got %q, want 0 to %d", half, maxHalf)
	}
	f, err := strconv.ParseUint(full, 10, 16)
	if err != nil || f < 1 || f > maxFull {
		return fmt.Errorf("move number: got %q, want 1 to %d", full, maxFull)
	}
	p.half, p.full = uint16(h), uint16(f)
	return nil
}

// check refuses positions that cannot arise.
func (p *Position) check() error {
	for side := White; side <= Black; side++ {
		own := p.sides[side]
		if n := count(p.kinds[King] & own); n != 1 {
			return fmt.Errorf("board: got %d kings of %v, want 1", n, side)
		}
		if n := count(own); n > 16 {
			return fmt.Errorf("board: got %d pieces of %v, want at most 16", n, side)
		}
		if n := count(p.kinds[Pawn] & own); n > 8 {
			return fmt.Errorf("board: got %d pawns of %v, want at most 8", n, side)
		}
	}
	if p.kinds[Pawn]&(rank1|rank8) != 0 {
		return errors.New("board: got pawns on the first or last rank")
	}
	if p.attacked(p.king(p.side.Other()), p.side, p.occupied()) {
		return fmt.Errorf("board: %v is to move and could take the king", p.side)
	}
	return nil
}

// FEN writes the position; an en passant square only where a pawn can really take there, as Lichess does.
func (p *Position) FEN() string { return p.Key() + fmt.Sprintf(" %d %d", p.half, p.full) }

// Key is the normal form by which positions are the same: the FEN without its counters.
func (p *Position) Key() string {
	passant := p.passant
	if passant != NoSquare && !p.canTakePassant() {
		passant = NoSquare
	}
	return string(p.appendFields(make([]byte, 0, maxFEN), passant))
}

func (p *Position) canTakePassant() bool {
	for b := pawnAttacks(bit(p.passant), p.side.Other()) & p.kinds[Pawn] & p.sides[p.side]; b != 0; b &= b - 1 {
		if p.safe(newMove(first(b), p.passant, None)) {
			return true
		}
	}
	return false
}

func (p *Position) appendFields(b []byte, passant Square) []byte {
	for rank := Square(7); rank >= 0; rank-- {
		empty := byte(0)
		for file := Square(0); file < 8; file++ {
			kind, side := p.At(8*rank + file)
			if kind == None {
				empty++
				continue
			}
			if empty > 0 {
				b, empty = append(b, '0'+empty), 0
			}
			c := letters[kind]
			if side == White {
				c -= 'a' - 'A'
			}
			b = append(b, c)
		}
		if empty > 0 {
			b = append(b, '0'+empty)
		}
		if rank > 0 {
			b = append(b, '/')
		}
	}
	b = append(b, ' ', "wb"[p.side], ' ')
	if p.castle == 0 {
		b = append(b, '-')
	}
	for i := range 4 {
		if p.castle&(1<<uint(i)) != 0 {
			b = append(b, "KQkq"[i])
		}
	}
	return append(append(b, ' '), passant.String()...)
}
