package bitboard

import "math/bits"

const (
	fileA uint64 = 0x0101010101010101
	fileH uint64 = fileA << 7
	rank1 uint64 = 0xff
	rank8 uint64 = rank1 << 56
)

func bit(s Square) uint64 { return 1 << uint(s) }

// first gives the lowest square of a non-empty set.
func first(b uint64) Square { return Square(bits.TrailingZeros64(b)) }

func knightAttacks(b uint64) uint64 {
	one, two := b>>1&^fileH|b<<1&^fileA, b>>2&^(fileH|fileH>>1)|b<<2&^(fileA|fileA<<1)
	return one<<16 | one>>16 | two<<8 | two>>8
}

func kingAttacks(b uint64) uint64 {
	row := b | b>>1&^fileH | b<<1&^fileA
	return (row | row<<8 | row>>8) &^ b
}

// pawnAttacks gives what pawns of a side attack.
func pawnAttacks(b uint64, side Side) uint64 {
	if side == White {
		return b<<7&^fileH | b<<9&^fileA
	}
	return b>>9&^fileH | b>>7&^fileA
}

// line gives what a slider on s attacks along a mask that holds s: o ^ (o-2s) upwards, and the same mirrored downwards.
// Mirroring the bytes is enough on files and diagonals, where no two squares share a rank.
func line(occupied, mask uint64, s Square) uint64 {
	o := occupied & mask
	up := o - 2*bit(s)
	down := bits.ReverseBytes64(bits.ReverseBytes64(o) - 2*bits.ReverseBytes64(bit(s)))
	return (up ^ down) & mask
}

func rankAttacks(occupied uint64, s Square) uint64 {
	mask := rank1 << (uint(s) & 56)
	o := occupied & mask
	up := o - 2*bit(s)
	down := bits.Reverse64(bits.Reverse64(o) - 2*bits.Reverse64(bit(s)))
	return (up ^ down) & mask
}

// diagonal shifts a main diagonal by whole ranks, up where n is negative.
func diagonal(main uint64, n int) uint64 {
	if n < 0 {
		return main << uint(-n)
	}
	return main >> uint(n)
}

func bishopAttacks(occupied uint64, s Square) uint64 {
	file, rank := 8*(int(s)&7), int(s)&56
	return line(occupied, diagonal(0x8040201008040201, file-rank), s) | line(occupied, diagonal(0x0102040810204080, 56-file-rank), s)
}

func rookAttacks(occupied uint64, s Square) uint64 {
	return line(occupied, fileA<<(uint(s)&7), s) | rankAttacks(occupied, s)
}
