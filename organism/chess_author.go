package organism

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/chess"
)

// player writes one transcript about a puzzle.
type player struct {
	hand
	w        ChessWeaknesses
	line     chess.Puzzle
	env      whale.Env
	at       int      // index into the line of the move to find
	uci, san []string // legal moves
	blocks   []string // what the harness shows of a position, "" = the side to move
	marks    bool     // whether SAN is shown with the marks of check and mate
	brief    bool     // whether the harness shows mostly what the choice needs
	remind   string   // what the harness adds to later positions
}

// write is the life of an episode.
func (a *player) write() {
	a.style()
	a.look()
	if a.chance(0.35) {
		a.say(whale.RoleSystem, a.requests(1+a.IntN(3)))
	}
	parts := []string{a.position()}
	if a.chance(0.9) {
		if extra := a.requests(1 + a.IntN(3)); a.chance(0.4) {
			parts = append([]string{extra}, parts...)
		} else {
			parts = append(parts, extra)
		}
	}
	a.say(whale.RoleUser, strings.Join(parts, pick(a, []string{"\n", "\n", "\n\n"})))
	for a.turn() {
	}
}

// style draws the harness.
func (a *player) style() {
	a.marks = a.chance(0.45)
	whole, picture := 0.4, 0.3
	if a.brief {
		whole, picture = 0.15, 0.1
	}
	switch {
	case a.chance(whole):
		a.blocks = []string{"observation"}
	default:
		for _, b := range []struct {
			name string
			p    float64
		}{{"fen", picture}, {"ascii", picture}, {"pieces", 0.25}, {"", 0.4}, {"history", 0.15}, {"legal_uci", 0.97}, {"legal_san", 0.8}} {
			if a.chance(b.p) {
				a.blocks = append(a.blocks, b.name)
			}
		}
		if a.chance(0.3) {
			a.rng.Shuffle(len(a.blocks), func(i, j int) { a.blocks[i], a.blocks[j] = a.blocks[j], a.blocks[i] })
		}
	}
	if len(a.blocks) == 0 {
		a.blocks = []string{"legal_uci"}
	}
	if a.chance(0.5) {
		a.remind = pick(a, moveRequests)
	}
}

// position is what the harness shows.
func (a *player) position() string {
	var parts []string
	for _, b := range a.blocks {
		switch b {
		case "":
			side := "White"
			if strings.Contains(a.show("fen", false), " b ") {
				side = "Black"
			}
			parts = append(parts, fmt.Sprintf(pick(a, []string{"Side to move: %s", "%s to move.", "You play %s."}), strings.ToLower(side)))
		case "observation", "legal_san":
			parts = append(parts, heading(a, b)+a.show(b, a.marks))
		default:
			parts = append(parts, heading(a, b)+a.show(b, false))
		}
	}
	return strings.Join(parts, "\n")
}

// heading is what stands before a block.
func heading(a *player, block string) string {
	if list := blockHeadings[block]; len(list) > 0 {
		return pick(a, list)
	}
	return ""
}

func (a *player) requests(n int) string {
	var parts []string
	for range n {
		parts = append(parts, pick(a, pick(a, [][]string{moveRequests, moveRequests, chessManners, manners})))
	}
	return strings.Join(parts, " ")
}

// mistake is what a turn may get wrong.
type mistake int

const (
	none mistake = iota
	rambling
	untagged
	inSAN
	illegal
)

// err draws a turn's mistake.
func (a *player) err() mistake {
	switch {
	case a.chance(a.w.Ramble):
		return rambling
	case a.chance(a.w.ForgetTag):
		return untagged
	case a.chance(a.w.SAN):
		return inSAN
	case a.chance(a.w.Illegal):
		return illegal
	}
	return none
}

// turn is a move with what comes before it; false ends the transcript.
func (a *player) turn() bool {
	at := a.choose()
	m := a.err()
	for tries := 0; m != none; tries++ {
		if m == rambling {
			a.ramble()
		} else {
			a.say(whale.RoleAssistant, a.wrongly(m, at))
		}
		if tries == 2 || a.chance(0.3) {
			return false
		}
		a.complain(m)
		if !a.chance(a.w.Deaf) {
			m = none
		}
	}
	a.say(whale.RoleAssistant, a.speech(at))
	return a.play(at)
}

// choose picks a move: the line's, or any.
func (a *player) choose() int {
	right := slices.Index(a.uci, a.line.Line[a.at])
	aimless := a.w.Aimless
	if a.marks && strings.HasSuffix(a.san[right], "#") && (slices.Contains(a.blocks, "observation") || slices.Contains(a.blocks, "legal_san")) {
		aimless = a.w.IgnoreMark
	}
	if a.chance(aimless) {
		return a.IntN(len(a.uci))
	}
	return right
}

// shown is SAN as the prompt has it; "" where it has none.
func (a *player) shown(at int) string {
	if !slices.Contains(a.blocks, "observation") && !slices.Contains(a.blocks, "legal_san") {
		return ""
	}
	if a.marks {
		return a.san[at]
	}
	return strings.TrimRight(a.san[at], "+#")
}

// speech is a reply that is as it should be.
func (a *player) speech(at int) string {
	tag := "<move>" + a.uci[at] + "</move>"
	if san := a.shown(at); san != "" && !a.chance(a.w.BareMove) {
		return san + " " + tag
	}
	return tag
}

// wrongly is a reply with a mistake.
func (a *player) wrongly(m mistake, at int) string {
	switch m {
	case untagged:
		return fmt.Sprintf(pick(a, plainMoves), a.uci[at])
	case inSAN:
		return "<move>" + strings.TrimRight(a.san[at], "+#") + "</move>"
	}
	for {
		u := a.uci[at][:2] + string(rune('a'+a.IntN(8))) + string(rune('1'+a.IntN(8)))
		if !slices.Contains(a.uci, u) && u[:2] != u[2:] {
			return "<move>" + u + "</move>"
		}
	}
}

// complain is what a harness says to a mistake.
func (a *player) complain(m mistake) {
	var parts []string
	last := a.out[len(a.out)-1].Text
	switch m {
	case illegal:
		move := last[strings.Index(last, "<move>")+len("<move>"):]
		parts = append(parts, move[:4]+" is not a legal move")
	case inSAN:
		parts = append(parts, "that is no move in UCI")
	}
	if m == rambling || m == untagged || a.chance(0.4) {
		parts = append(parts, pick(a, moveNudges))
	}
	if a.chance(0.25) {
		parts = append(parts, a.show("legal_uci", false))
	}
	role := whale.RoleUser
	if (m == illegal || m == inSAN) && a.chance(0.5) {
		role = whale.RoleTool
	}
	a.say(role, strings.Join(parts, "\n"))
}

// play makes the move and shows what it led to; false ends the transcript.
func (a *player) play(at int) bool {
	move := a.uci[at]
	args := map[string]json.RawMessage{"uci": json.RawMessage(`"` + move + `"`)}
	result, err := a.env.Call(context.Background(), "move", args)
	if err != nil {
		panic(err) // legal moves can be played
	}
	if result.Done {
		return false
	}
	a.at += 2
	a.look()
	text := a.position()
	if a.chance(0.8) {
		text = result.Text + "\n" + text
	}
	if a.remind != "" {
		text += "\n" + a.remind
	}
	role := whale.RoleTool
	if a.chance(0.3) {
		role = whale.RoleUser
	}
	a.say(role, text)
	return true
}

func (a *player) ramble() {
	var b strings.Builder
	for n := 8 + a.IntN(16); n > 0; n-- {
		s := pick(a, chessRambles)
		if strings.Contains(s, "%s") {
			s = fmt.Sprintf(s, strings.TrimRight(pick(a, a.san), "+#"))
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	a.open(b.String())
}
