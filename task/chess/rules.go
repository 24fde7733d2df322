package chess

import (
	"regexp"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// rulesVersion changes with what the rules let through.
const rulesVersion = 1

// newRules says what a harness may not write itself: moves and squares, in any case and in UCI or SAN.
//
// A square alone is one of them, not for the pawn's move that it is in SAN but since the list of legal moves stands beside it: in most
// positions the square that a piece goes to tells the move. What a harness wants to show of squares it has from env.render, which has pieces,
// history and examples of the notation too. Ordinary English has no word of a letter from a to h and a digit from 1 to 8, nor of such words joined;
// a FEN cut by hand may have one ("/b7/"), so the parts of a FEN are blocks too.
func newRules() whale.Rules {
	const square = `[a-h][1-8]`
	word := func(expr string) *regexp.Regexp {
		// An underscore is a letter to \b, and emphasis to a reader.
		return regexp.MustCompile(`(?i)(?:\b|_)(?:` + expr + `)(?:\b|_)`)
	}
	return whale.Rules{
		Fold: strings.ToLower,
		Patterns: []whale.Pattern{
			{Name: "square", Expr: word(square)},
			{Name: "move", Expr: word(`(?:` + square + `){2,}[qrbn]?`)},                          // UCI, or several run together
			{Name: "move", Expr: word(`[kqrbn][a-h]?[1-8]?x?` + square)},                         // SAN of a piece
			{Name: "move", Expr: word(`[a-h]x?` + square + `[qrbn]?|` + `[a-h][18][qrbn]`)},      // SAN of a pawn that takes or is promoted
			{Name: "castling move", Expr: word(`[o0](?:[-\x{2010}-\x{2015}\x{2212}][o0]){1,2}`)}, // O-O, and with other dashes
		},
	}
}
