package bitboard

// Side is a colour.
type Side uint8

// The sides.
const (
	White Side = iota
	Black
)

// String is "White" or "Black".
func (s Side) String() string {
	if s == White {
		return "White"
	}
	return "Black"
}

// Other is the opponent.
func (s Side) Other() Side { return s ^ 1 }

// The castling rights, as bits.
const (
	whiteKingside uint8 = 1 << iota
	whiteQueenside
	blackKingside
	blackQueenside
)

// Position is a position with all that decides which moves are legal, and the two counters of a FEN. It is a value: copies are independent.
type Position struct {
	kinds   [6]uint64 // by Kind, both sides
	sides   [2]uint64 // by Side
	side    Side
	castle  uint8
	passant Square // behind a pawn that just moved two squares, or NoSquare
	half    uint16 // plies since a capture or a pawn's move
	full    uint16 // number of the move
}

// Side is who is to move.
func (p *Position) Side() Side { return p.side }

// Pieces counts the pieces on the board, kings and pawns included.
func (p *Position) Pieces() int { return count(p.occupied()) }

// At gives what stands on a square; None where it is empty.
func (p *Position) At(s Square) (Kind, Side) {
	b := bit(s)
	side := White
	if p.sides[Black]&b != 0 {
		side = Black
	} else if p.sides[White]&b == 0 {
		return None, White
	}
	for k := Pawn; k < King; k++ {
		if p.kinds[k]&b != 0 {
			return k, side
		}
	}
	return King, side
}

// Capture says whether a legal move takes something, en passant included.
func (p *Position) Capture(m Move) bool {
	return p.occupied()&bit(m.To()) != 0 || m.To() == p.passant && p.kinds[Pawn]&bit(m.From()) != 0
}

func (p *Position) occupied() uint64 { return p.sides[White] | p.sides[Black] }

func (p *Position) king(side Side) Square { return first(p.kinds[King] & p.sides[side]) }

// attacked says whether a side attacks a square, given what is occupied.
func (p *Position) attacked(s Square, by Side, occupied uint64) bool {
	own := p.sides[by]
	switch {
	case pawnAttacks(bit(s), by.Other())&p.kinds[Pawn]&own != 0,
		knightAttacks(bit(s))&p.kinds[Knight]&own != 0,
		kingAttacks(bit(s))&p.kinds[King]&own != 0:
		return true
	}
	if straight := (p.kinds[Rook] | p.kinds[Queen]) & own; straight != 0 && rookAttacks(occupied, s)&straight != 0 {
		return true
	}
	slanted := (p.kinds[Bishop] | p.kinds[Queen]) & own
	return slanted != 0 && bishopAttacks(occupied, s)&slanted != 0
}

// InCheck says whether the side to move is in check.
func (p *Position) InCheck() bool { return p.attacked(p.king(p.side), p.side.Other(), p.occupied()) }

// Mated says whether the side to move is checkmated.
func (p *Position) Mated() bool { return p.InCheck() && !p.CanMove() }

// Make gives the position after a legal move.
func (p *Position) Make(m Move) Position {
	q := *p
	from, to := m.From(), m.To()
	f, t := bit(from), bit(to)
	own, other := p.side, p.side.Other()
	kind, _ := p.At(from)
	q.half++
	if p.sides[other]&t != 0 {
		q.sides[other] &^= t
		for k := range q.kinds {
			q.kinds[k] &^= t
		}
		q.half = 0
	}
	q.sides[own] ^= f | t
	q.kinds[kind] ^= f | t
	q.passant = NoSquare
	switch kind {
	case Pawn:
		q.half = 0
		q.pawnMoved(p, m)
	case King:
		switch to - from {
		case 2:
			q.moveRook(to+1, to-1)
		case -2:
			q.moveRook(to-2, to+1)
		}
	}
	q.castle &^= lost(from) | lost(to)
	q.side = other
	if own == Black {
		q.full++
	}
	return q
}

// pawnMoved does what only pawns do. The pawn stands on its new square already; p is the position before.
func (q *Position) pawnMoved(p *Position, m Move) {
	from, to := m.From(), m.To()
	switch {
	case to == p.passant:
		taken := bit(to ^ 8) // the rank beside: 6 ↔ 5, 3 ↔ 4
		q.kinds[Pawn] &^= taken
		q.sides[p.side.Other()] &^= taken
	case from^to == 16: // two ranks on
		q.passant = (from + to) / 2
	case m.Promotion() != None:
		q.kinds[Pawn] &^= bit(to)
		q.kinds[m.Promotion()] |= bit(to)
	}
}

func (q *Position) moveRook(from, to Square) {
	b := bit(from) | bit(to)
	q.kinds[Rook] ^= b
	q.sides[q.side] ^= b
}

// lost gives the castling rights that end once something moves from or to a square.
func lost(s Square) uint8 {
	switch s {
	case 0:
		return whiteQueenside
	case 4:
		return whiteKingside | whiteQueenside
	case 7:
		return whiteKingside
	case 56:
		return blackQueenside
	case 60:
		return blackKingside | blackQueenside
	case 63:
		return blackKingside
	}
	return 0
}

// Surplus is how many pieces of a kind the side to move has more than the opponent.
func (p *Position) Surplus(k Kind) int {
	return count(p.kinds[k]&p.sides[p.side]) - count(p.kinds[k]&p.sides[p.side.Other()])
}

// Counters gives the plies since a capture or a pawn's move, and the number of the move.
func (p *Position) Counters() (half, full int) { return int(p.half), int(p.full) }

// Castling gives the castling rights as bits: from the lowest, White's short and long, Black's short and long.
func (p *Position) Castling() uint8 { return p.castle }

// Passant is the square behind a pawn that just moved two squares, or NoSquare.
func (p *Position) Passant() Square { return p.passant }
