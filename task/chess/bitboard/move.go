package bitboard

import "fmt"

// Square counts from a1 = 0 along the ranks to h8 = 63.
type Square int8

// NoSquare is the absence of a square.
const NoSquare Square = -1

// String is the square's name, such as "e4".
func (s Square) String() string {
	if s < 0 || s > 63 {
		return "-"
	}
	return string([]byte{'a' + byte(s&7), '1' + byte(s>>3)})
}

// parseSquare reads two bytes.
func parseSquare(file, rank byte) (Square, bool) {
	if file < 'a' || file > 'h' || rank < '1' || rank > '8' {
		return NoSquare, false
	}
	return Square(file-'a') + 8*Square(rank-'1'), true
}

// Kind is a kind of piece.
type Kind uint8

// The kinds of piece. None stands for no promotion too.
const (
	Pawn Kind = iota
	Knight
	Bishop
	Rook
	Queen
	King
	None
)

const letters = "pnbrqk"

// Move is a move: six bits each of from and to, three of the kind promoted to (0 = none). Castling is the king's move of two squares.
type Move uint16

// NoMove is no legal move of any position.
const NoMove Move = 0

func newMove(from, to Square, promotion Kind) Move {
	if promotion == None {
		promotion = Pawn // no pawn is promoted to a pawn
	}
	return Move(from) | Move(to)<<6 | Move(promotion)<<12
}

// From is where the move starts.
func (m Move) From() Square { return Square(m & 63) }

// To is where it ends.
func (m Move) To() Square { return Square(m >> 6 & 63) }

// Promotion is what a pawn becomes, or None.
func (m Move) Promotion() Kind {
	if k := Kind(m >> 12); k != Pawn {
		return k
	}
	return None
}

// String is the move in UCI, such as "e2e4" or "a7a8q".
func (m Move) String() string {
	s := m.From().String() + m.To().String()
	if k := m.Promotion(); k < None {
		s += letters[k : k+1]
	}
	return s
}

// ParseMove reads a move in UCI. Whether it is legal anywhere is another question.
func ParseMove(s string) (Move, error) {
	if len(s) != 4 && len(s) != 5 {
		return NoMove, fmt.Errorf("move: got %q, want UCI of 4 or 5 characters", clip(s))
	}
	from, ok := parseSquare(s[0], s[1])
	to, ok2 := parseSquare(s[2], s[3])
	if !ok || !ok2 || from == to {
		return NoMove, fmt.Errorf("move: got %q, want two different squares", clip(s))
	}
	promotion := None
	if len(s) == 5 {
		switch s[4] {
		case 'n':
			promotion = Knight
		case 'b':
			promotion = Bishop
		case 'r':
			promotion = Rook
		case 'q':
			promotion = Queen
		default:
			return NoMove, fmt.Errorf("move: got %q, want a promotion to n, b, r or q", clip(s))
		}
	}
	return newMove(from, to, promotion), nil
}

// clip shortens a quotation in an error.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
