package bitboard

import "iter"

// Next walks the legal moves with the positions after them, in the order of Legal. Unlike Legal it looks at one move at a time, which
// is what a search wants that mostly stops early. The position is overwritten by the next step.
func (p *Position) Next() iter.Seq2[Move, *Position] { return p.walk(^uint64(0), false) }

// NextCaptures walks the legal moves that take something or promote, those that take the more valuable kinds first.
func (p *Position) NextCaptures() iter.Seq2[Move, *Position] {
	return p.walk(p.sides[p.side.Other()], false)
}

// NextChecks walks the legal moves that give check.
func (p *Position) NextChecks() iter.Seq2[Move, *Position] { return p.walk(^uint64(0), true) }

func (p *Position) walk(targets uint64, checks bool) iter.Seq2[Move, *Position] {
	return func(yield func(Move, *Position) bool) {
		var buffer [MaxMoves]Move
		var filter checkFilter
		if checks {
			filter = p.checkFilter()
		}
		moves := p.pseudo(buffer[:0], targets)
		if targets != ^uint64(0) {
			p.sortByVictim(moves)
		}
		for _, m := range moves {
			if checks && !filter.may(p, m) {
				continue
			}
			q := p.Make(m)
			if q.attacked(q.king(p.side), q.side, q.occupied()) || checks && !q.InCheck() {
				continue
			}
			if !yield(m, &q) {
				return
			}
		}
	}
}

// sortByVictim sorts captures: short lists, by insertion.
func (p *Position) sortByVictim(moves []Move) {
	var victims [MaxMoves]Kind
	for i, m := range moves {
		victim, _ := p.At(m.To())
		if victim == None {
			victim = Pawn // en passant, or a promotion
		}
		at := i
		for ; at > 0 && victims[at-1] < victim; at-- {
			victims[at], moves[at] = victims[at-1], moves[at-1]
		}
		victims[at], moves[at] = victim, m
	}
}

// checkFilter tells most moves that cannot give check from the others, without playing them.
type checkFilter struct {
	from [6]uint64 // squares from which a kind attacks the king
	mask uint64    // squares whose piece, moving away, may open a line to the king
}

func (p *Position) checkFilter() checkFilter {
	king, occupied, own := p.king(p.side.Other()), p.occupied(), p.sides[p.side]
	straight, slanted := rookAttacks(occupied, king), bishopAttacks(occupied, king)
	f := checkFilter{from: [6]uint64{
		Pawn: pawnAttacks(bit(king), p.side.Other()), Knight: knightAttacks(bit(king)),
		Bishop: slanted, Rook: straight, Queen: straight | slanted,
	}}
	// Behind each first piece seen from the king: does a slider of ours look at it along that line?
	f.mask = own & (straight | slanted)
	if behind := rookAttacks(occupied&^(straight&own), king)&own&(p.kinds[Rook]|p.kinds[Queen])&^straight |
		bishopAttacks(occupied&^(slanted&own), king)&own&(p.kinds[Bishop]|p.kinds[Queen])&^slanted; behind == 0 {
		f.mask = 0
	}
	return f
}

// may says whether a pseudo-legal move may give check; promotions, captures en passant and castling always may.
func (f *checkFilter) may(p *Position, m Move) bool {
	from, to := bit(m.From()), bit(m.To())
	if f.mask&from != 0 || m.Promotion() != None {
		return true
	}
	kind, _ := p.At(m.From())
	switch kind {
	case King:
		return m.To()-m.From() == 2 || m.From()-m.To() == 2
	case Pawn:
		if m.To() == p.passant {
			return true
		}
	}
	return f.from[kind]&to != 0
}
