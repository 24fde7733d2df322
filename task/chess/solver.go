package chess

import "github.com/seed-095d5d2b/whale/task/chess/bitboard"

// The solver is exact: what it says of mates holds against every defence, and what it says of material holds for the search defined at wins.

// matingMoves appends the legal moves that checkmate.
func matingMoves(p *bitboard.Position, list []bitboard.Move) []bitboard.Move {
	for m, q := range p.NextChecks() {
		if !q.CanMove() {
			list = append(list, m)
		}
	}
	return list
}

// canMate says whether there is a mating move.
func canMate(p *bitboard.Position) bool {
	for _, q := range p.NextChecks() {
		if !q.CanMove() {
			return true
		}
	}
	return false
}

// forcesMate says whether the side that just moved mates with its next move, whatever the side to move does. A position where that side
// cannot move is none of these: it is mated already, or stalemate.
func forcesMate(p *bitboard.Position) bool {
	replies := 0
	for _, q := range p.Next() {
		if !canMate(q) {
			return false
		}
		replies++
	}
	return replies > 0
}

// forcingMoves gives the moves that force mate with the move after them, at most most of them.
func forcingMoves(p *bitboard.Position, most int) []bitboard.Move {
	var out []bitboard.Move
	for m, q := range p.Next() {
		if forcesMate(q) {
			if out = append(out, m); len(out) == most {
				break
			}
		}
	}
	return out
}

// The values of pieces, in pawns.
var values = [...]int{bitboard.Pawn: 1, bitboard.Knight: 3, bitboard.Bishop: 3, bitboard.Rook: 5, bitboard.Queen: 9}

// mateScore is more than any material; exchangePlies bounds an exchange.
const (
	mateScore     = 1000
	exchangePlies = 8
)

// balance is the material of the side to move less that of the opponent.
func balance(p *bitboard.Position) int {
	n := 0
	for kind, v := range values {
		n += v * p.Surplus(bitboard.Kind(kind))
	}
	return n
}

// settle scores a position for the side to move, which may stop with the material as it is, or play the exchange. In check it may not stop: it must
// find a legal move, of whatever kind, and mated it has lost everything. Bounds are those of alpha-beta; the score is exact between them.
func settle(p *bitboard.Position, alpha, beta int) int {
	if !p.InCheck() {
		return exchange(p, alpha, beta, exchangePlies)
	}
	best := -mateScore
	for _, q := range p.Next() {
		if best = max(best, -exchange(q, -beta, -max(alpha, best), exchangePlies-1)); best >= beta {
			break
		}
	}
	return best
}

// exchange searches captures and promotions to their end, at most so many plies; both sides may stop at any point.
func exchange(p *bitboard.Position, alpha, beta, plies int) int {
	best := balance(p)
	if best >= beta || plies == 0 {
		return best
	}
	for _, q := range p.NextCaptures() {
		if best = max(best, -exchange(q, -beta, -max(alpha, best), plies-1)); best >= beta {
			break
		}
	}
	return best
}

// wins says whether a move wins at least gain: after every legal reply, the mover can settle for at least gain more than it had before the move. A move that mates or stalemates is none of these.
func wins(p *bitboard.Position, m bitboard.Move, gain int) bool {
	want := balance(p) + gain
	q := p.Make(m)
	// Most moves fail, and most of these to a capture.
	for _, after := range q.NextCaptures() {
		if settle(after, want-1, want) < want {
			return false
		}
	}
	replies := 0
	for _, after := range q.Next() {
		if settle(after, want-1, want) < want {
			return false
		}
		replies++
	}
	return replies > 0
}

// winningMoves gives the moves that win at least a pawn, at most most of them.
func winningMoves(p *bitboard.Position, most int) []bitboard.Move {
	var out []bitboard.Move
	for m := range p.Next() {
		if wins(p, m, 1) {
			if out = append(out, m); len(out) == most {
				break
			}
		}
	}
	return out
}
