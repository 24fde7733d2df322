package organism

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

// shownMoves lists the words of all that a transcript's harness said.
func shownMoves(tr Transcript) []string {
	var words []string
	for _, turn := range tr {
		if turn.Role != whale.RoleAssistant {
			words = append(words, strings.Fields(turn.Text)...)
		}
	}
	return words
}

// TestChessControlPlaysTheLine: the control's moves are legal, in the tag, and the first one is the line's.
func TestChessControlPlaysTheLine(t *testing.T) {
	s := openStream(t, committed(t, "whale-tiny-chess").Control()).(*chessStream)
	right := map[string]bool{}
	for _, p := range s.puzzles {
		for i := 0; i < len(p.Line); i += 2 {
			right[p.Line[i]] = true
		}
	}
	listed, moves := 0, 0
	for i := range 400 {
		tr := s.transcript(i, weak)
		words := shownMoves(tr)
		for _, turn := range tr {
			if turn.Role != whale.RoleAssistant {
				continue
			}
			moves++
			move, ok := between(turn.Text, "<move>", "</move>")
			if !ok || !right[move] {
				t.Fatalf("transcript %d says %q, want a move of a line in the tag", i, turn.Text)
			}
			if slices.Contains(words, move) {
				listed++
			}
			if san, _, said := strings.Cut(turn.Text, " <move>"); said && !slices.Contains(words, san) {
				t.Fatalf("transcript %d says %q, which no list has", i, turn.Text)
			}
		}
	}
	if listed < moves*9/10 {
		t.Errorf("got %d of %d moves from a list that was shown", listed, moves)
	}
}

// TestChessWeaknesses counts first turns.
func TestChessWeaknesses(t *testing.T) {
	r := committed(t, "whale-tiny-chess")
	s := openStream(t, r)
	w := r.Chess.Weaknesses
	const n = 2500
	var rambles, bare, san float64
	for i := range n {
		tr := s.transcript(i, weak)
		at := slices.IndexFunc(tr, func(u Turn) bool { return u.Role == whale.RoleAssistant })
		move, ok := between(tr[at].Text, "<move>", "</move>")
		switch {
		case tr[at].Open:
			rambles++
		case !ok:
			bare++
		case len(move) < 4 || move[1] < '1' || move[1] > '8' || move[3] < '1' || move[3] > '8':
			san++
		}
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"ramble", rambles / n, w.Ramble}, {"forget_tag", bare / (n - rambles), w.ForgetTag}, {"san", san / (n - rambles - bare), w.SAN}} {
		if c.got < c.want-0.05 || c.got > c.want+0.05 {
			t.Errorf("%s: got a share of %.3f, want about %.3f", c.name, c.got, c.want)
		}
	}
}
