package chess

import (
	"encoding/json"
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// block is a text that env.render gives of the present position.
type block struct {
	name  string
	about string
	marks bool // takes the argument marks
	write func(g *game, marks bool) string
}

// argMarks asks for the marks of check and mate in SAN, which are left out by default.
const argMarks = "marks"

func blocks() []block {
	return []block{
		{"observation", "FEN, board and legal moves together", true, observation},
		{"fen", "the FEN", false, func(g *game, _ bool) string { return g.board.fen() }},
		{"placement", "the first field of the FEN", false, func(g *game, _ bool) string {
			first, _, _ := strings.Cut(g.board.fen(), " ")
			return first
		}},
		{"ascii", "a diagram from White's side, capitals White's", false, ascii},
		{"pieces", "the pieces of both sides with their squares", false, pieces},
		{"legal_uci", "the legal moves in UCI", false, func(g *game, _ bool) string { return list(g, func(m legalMove) string { return m.uci }) }},
		{"legal_san", "the legal moves in SAN, in the order of legal_uci", true, legalSAN},
		{"history", "the moves so far in UCI, a line each", false, history},
		{"notation", "how a move is written in UCI, with examples", false, func(*game, bool) string { return notation }},
	}
}

// notation has examples of moves, which no text of a harness may have.
const notation = "A move in UCI is the square it starts from and the square it goes to, and for a promotion the letter of the new piece: e2e4, g1f3, e1g1 (castling), a7a8q."

// render gives a block by its name. The error is for the caller.
func render(g *game, name string, args map[string]json.RawMessage) (string, error) {
	var names []string
	for _, b := range blocks() {
		if b.name != name {
			names = append(names, b.name)
			continue
		}
		spec := whale.ToolSpec{Name: "block " + name}
		if b.marks {
			spec.Parameters = []whale.ToolParameter{{Name: argMarks, Type: "boolean"}}
		}
		if text := task.CheckArgs(spec, args); text != "" {
			return "", fmt.Errorf("%s", text)
		}
		return b.write(g, string(args[argMarks]) == "true"), nil
	}
	return "", fmt.Errorf("unknown block %q (blocks: %s)", clip(name), strings.Join(names, ", "))
}

func list(g *game, of func(legalMove) string) string {
	moves := g.board.notated()
	out := make([]string, len(moves))
	for i, m := range moves {
		out[i] = of(m)
	}
	return strings.Join(out, " ")
}

func legalSAN(g *game, marks bool) string {
	return list(g, func(m legalMove) string {
		if marks {
			return m.marked
		}
		return m.san
	})
}

func observation(g *game, marks bool) string {
	return strings.Join([]string{
		"FEN: " + g.board.fen(),
		"Board:", ascii(g, false),
		"Side to move: " + g.board.side(),
		"Legal moves (UCI): " + list(g, func(m legalMove) string { return m.uci }),
		"Legal moves (SAN): " + legalSAN(g, marks),
	}, "\n")
}

func ascii(g *game, _ bool) string {
	var b strings.Builder
	placement, _, _ := strings.Cut(g.board.fen(), " ")
	for i, rank := range strings.Split(placement, "/") {
		fmt.Fprintf(&b, "%d", 8-i)
		for _, c := range rank {
			if c >= '1' && c <= '8' {
				b.WriteString(strings.Repeat(" .", int(c-'0')))
				continue
			}
			b.WriteByte(' ')
			b.WriteRune(c)
		}
		b.WriteByte('\n')
	}
	b.WriteString("  a b c d e f g h")
	return b.String()
}

func pieces(g *game, _ bool) string {
	names := [...]string{bitboard.King: "king", bitboard.Queen: "queen", bitboard.Rook: "rook", bitboard.Bishop: "bishop", bitboard.Knight: "knight", bitboard.Pawn: "pawn"}
	var lines []string
	p, err := bitboard.Parse(g.board.fen())
	if err != nil {
		panic("chess: a board without a FEN: " + err.Error()) // it was set up from one, and legal moves keep it so
	}
	for _, side := range []bitboard.Side{bitboard.White, bitboard.Black} {
		var parts []string
		for kind := bitboard.King; ; kind-- {
			for s := range bitboard.Square(64) {
				if k, of := p.At(s); k == kind && of == side {
					parts = append(parts, names[kind]+" "+s.String())
				}
			}
			if kind == bitboard.Pawn {
				break
			}
		}
		lines = append(lines, side.String()+": "+strings.Join(parts, ", "))
	}
	return strings.Join(lines, "\n")
}

func history(g *game, _ bool) string {
	var lines []string
	if g.reference.Trigger != "" {
		lines = append(lines, "opponent: "+g.reference.Trigger)
	}
	for i, m := range g.played {
		who := "you: "
		if i%2 == 1 {
			who = "opponent: "
		}
		lines = append(lines, who+m)
	}
	if lines == nil {
		return "no moves so far"
	}
	return strings.Join(lines, "\n")
}

// clip shortens a quotation in an error.
func clip(s string) string {
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return strings.ToValidUTF8(s, "")
}
