package bitboard

import "math/bits"

// MaxMoves bounds the legal moves of any position (218 are known).
const MaxMoves = 256

func count(b uint64) int { return bits.OnesCount64(b) }

// Legal appends the legal moves to a list, in a fixed order: by kind of piece, by square from, by square to.
func (p *Position) Legal(list []Move) []Move {
	start := len(list)
	list = p.pseudo(list, ^uint64(0))
	return p.keepLegal(list, start)
}

func (p *Position) keepLegal(list []Move, start int) []Move {
	kept := start
	for _, m := range list[start:] {
		if p.safe(m) {
			list[kept] = m
			kept++
		}
	}
	return list[:kept]
}

// CanMove says whether there is any legal move.
func (p *Position) CanMove() bool {
	var buffer [MaxMoves]Move
	for _, m := range p.pseudo(buffer[:0], ^uint64(0)) {
		if p.safe(m) {
			return true
		}
	}
	return false
}

// Choose gives one legal move, each as likely where pick draws uniformly below its argument; false where there is none. It looks at few moves only.
func (p *Position) Choose(pick func(n int) int) (Move, bool) {
	var buffer [MaxMoves]Move
	list := p.pseudo(buffer[:0], ^uint64(0))
	for len(list) > 0 {
		i := pick(len(list))
		if p.safe(list[i]) {
			return list[i], true
		}
		list[i] = list[len(list)-1]
		list = list[:len(list)-1]
	}
	return NoMove, false
}

// IsLegal says whether a move is legal here.
func (p *Position) IsLegal(m Move) bool {
	var buffer [MaxMoves]Move
	for _, l := range p.pseudo(buffer[:0], ^uint64(0)) {
		if l == m {
			return p.safe(m)
		}
	}
	return false
}

// safe says whether a pseudo-legal move leaves the own king unattacked.
func (p *Position) safe(m Move) bool {
	q := p.Make(m)
	return !q.attacked(q.king(p.side), q.side, q.occupied())
}

// pseudo appends moves that may leave the king in check. Where targets are not all squares, only captures onto them, captures en passant and
// promotions are wanted.
func (p *Position) pseudo(list []Move, targets uint64) []Move {
	own, occupied := p.sides[p.side], p.occupied()
	list = p.pawnMoves(list, targets)
	for kind := Knight; kind <= King; kind++ {
		for b := p.kinds[kind] & own; b != 0; b &= b - 1 {
			from := first(b)
			var to uint64
			switch kind {
			case Knight:
				to = knightAttacks(bit(from))
			case Bishop:
				to = bishopAttacks(occupied, from)
			case Rook:
				to = rookAttacks(occupied, from)
			case Queen:
				to = bishopAttacks(occupied, from) | rookAttacks(occupied, from)
			case King:
				to = kingAttacks(bit(from))
			}
			for t := to &^ own & targets; t != 0; t &= t - 1 {
				list = append(list, newMove(from, first(t), None))
			}
		}
	}
	if targets == ^uint64(0) {
		list = p.castling(list)
	}
	return list
}

func (p *Position) pawnMoves(list []Move, targets uint64) []Move {
	all := targets == ^uint64(0)
	occupied := p.occupied()
	takes := p.sides[p.side.Other()]
	if p.passant != NoSquare {
		takes |= bit(p.passant)
	}
	for b := p.kinds[Pawn] & p.sides[p.side]; b != 0; b &= b - 1 {
		from := first(b)
		one, start := bit(from)<<8, from>>3 == 1
		if p.side == Black {
			one, start = bit(from)>>8, from>>3 == 6
		}
		to := pawnAttacks(bit(from), p.side) & takes
		if one &^= occupied; one != 0 && (all || one&(rank1|rank8) != 0) {
			to |= one
			if start && all {
				two := one << 8
				if p.side == Black {
					two = one >> 8
				}
				to |= two &^ occupied
			}
		}
		for ; to != 0; to &= to - 1 {
			t := first(to)
			if bit(t)&(rank1|rank8) == 0 {
				list = append(list, newMove(from, t, None))
				continue
			}
			for k := Queen; k >= Knight; k-- {
				list = append(list, newMove(from, t, k))
			}
		}
	}
	return list
}

// castling appends castling moves: the squares between are empty, and the king neither leaves, crosses nor enters an attacked square (the last
// is checked as for any move).
func (p *Position) castling(list []Move) []Move {
	short, long, king := p.castle&whiteKingside != 0, p.castle&whiteQueenside != 0, Square(4)
	if p.side == Black {
		short, long, king = p.castle&blackKingside != 0, p.castle&blackQueenside != 0, Square(60)
	}
	if !short && !long {
		return list
	}
	occupied, other := p.occupied(), p.side.Other()
	if p.attacked(king, other, occupied) {
		return list
	}
	if short && occupied&(bit(king+1)|bit(king+2)) == 0 && !p.attacked(king+1, other, occupied) {
		list = append(list, newMove(king, king+2, None))
	}
	if long && occupied&(bit(king-1)|bit(king-2)|bit(king-3)) == 0 && !p.attacked(king-1, other, occupied) {
		list = append(list, newMove(king, king-2, None))
	}
	return list
}

// Perft counts the leaves of the tree of legal moves of a depth: the usual check of a move generator.
func (p *Position) Perft(depth int) int {
	var buffer [MaxMoves]Move
	moves := p.Legal(buffer[:0])
	if depth <= 1 {
		return len(moves)
	}
	n := 0
	for _, m := range moves {
		q := p.Make(m)
		n += q.Perft(depth - 1)
	}
	return n
}
