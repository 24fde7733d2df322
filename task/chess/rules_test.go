package chess

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

func hit(text string) string {
	for _, p := range newRules().Patterns {
		if m := p.Expr.FindString(text); m != "" {
			return m
		}
	}
	return ""
}

func TestPatterns(t *testing.T) {
	for _, s := range []string{
		"e2e4", "E2E4", "a7a8q", "a7a8=Q", "e2-e4", "e2 e4", "e2 to e4", "e2e4e7e5", "play e4!", "1. e4 e5", "1.e4", "_e4_", "**e4**", "(e4)", "E4",
		"Nf3", "nf3", "Nbd2", "R1e2", "Qh4e1", "Qh4xe1", "Bxf7+", "Qxf7#", "exd5", "exd8=Q", "dxc8Q", "e8=Q", "e8Q", "ed5",
		"O-O", "O-O-O", "0-0", "o-o-o", "O–O", "O−O", "♘f3", "knight to f3", "the square c4",
	} {
		if hit(s) == "" {
			t.Errorf("%q: got no match, want one", s)
		}
	}
	for _, s := range []string{
		"", "Find the best move.", "Write it as <move>uci</move>.", "from-square to-square, and a letter for a promotion", "White to move, 3 moves left",
		"first look for checks, then captures, then threats", "8 ranks and 8 files", "files a to h", "rank 8", "[turn 2 of 9, 3 tool calls and 40 tokens left]",
		"a b c d e f g h", "8 r n b q k b n r", "8 r . b q k . . r", "mate in 2", "10-0 down", "be 2 or 3", "2b or not 2b", "x86", "utf8", "v2", "top10", "be4u", "1e5",
		"KQkq", "h0", "h9", "i4", "knight", "castle on the king's side", "queen, rook, bishop, knight, pawn", "[a-h][1-8][a-h][1-8][qrbn]?",
	} {
		if m := hit(s); m != "" {
			t.Errorf("%q: got the match %q, want none", s, m)
		}
	}
}

// TestPatternsHitMoves: whatever the board calls a move is a match as a whole, in every notation, any case and either end of a line.
func TestPatternsHitMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := bitboard.Parse(bitboard.Start)
		if err != nil {
			t.Fatal(err)
		}
		choose := rapid.IntRange(0, 1<<20)
		for range rapid.IntRange(0, 60).Draw(t, "plies") {
			moves := p.Legal(nil)
			if len(moves) == 0 {
				break
			}
			p = p.Make(moves[choose.Draw(t, "move")%len(moves)])
		}
		b, err := newBoard(p.FEN())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range b.notated() {
			for _, s := range []string{m.uci, m.san, m.marked, strings.ToUpper(m.uci), strings.ToLower(m.san)} {
				if got := hit(s); got != strings.TrimRight(s, "+#") && !strings.Contains(s, "=") { // of a promotion the square is enough
					t.Fatalf("%q: got the match %q", s, got)
				}
				if hit("I say: "+s+".") == "" {
					t.Fatalf("%q: got no match inside a sentence", s)
				}
			}
		}
	})
}

// TestOrdinaryProse looks at every text that the harnesses of this repository say.
func TestOrdinaryProse(t *testing.T) {
	root := filepath.Join("..", "..")
	literal := regexp.MustCompile(`(?s)(r?)(?:"""(.*?)"""|"((?:[^"\\\n]|\\.)*)")`)
	files, texts := 0, 0
	for _, dir := range []string{"examples", filepath.Join("harness", "audit", "testdata", "dev", "ordinary")} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".star" {
				return err
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
				if m[1] == "r" {
					continue // a regular expression, which is not said to anyone
				}
				texts++
				if found := hit(m[2] + m[3]); found != "" {
					t.Errorf("%s: %q: got the match %q", path, m[0], found)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 20 || texts < 100 {
		t.Errorf("got %d texts in %d files, want the harnesses of the examples", texts, files)
	}
	t.Logf("%d texts in %d files", texts, files)
}

// TestSquaresTell measures why a square counts as a move: how often the square that the right piece goes to tells the move.
func TestSquaresTell(t *testing.T) {
	task := sampleTask(t, false)
	told := 0
	n := forAll(t, task, func(x whale.Example) {
		line := lineOf(t, x)
		same := 0
		for _, m := range setUp(t, x.View[viewFEN]).legal() {
			if m.uci[2:4] == line[0][2:4] {
				same++
			}
		}
		if same == 1 {
			told++
		}
	})
	t.Logf("the square alone tells the move in %d of %d puzzles", told, n)
	if 2*told < n {
		t.Errorf("got %d of %d, want most: else squares need not be declared", told, n)
	}
}
