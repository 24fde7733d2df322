package bitboard

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ fen, want string }{
		{"", "got 1 fields, want 6"},
		{strings.Repeat("8/", 1<<20), "bytes, want at most 100"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", "got 4 fields"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR  w KQkq - 0 1", "got 7 fields"},
		{"rnbqkbnr/pppppppp/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "got 7 ranks"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w KQ - 0 1", "of 7 squares"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNRR w KQ - 0 1", `rank 1: got "RNBQKBNRR"`},
		{"rnbqkbnr/pppppppp/44/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "rank 6"},
		{"rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "rank 6"},
		{"rnbqkbnr/ppp\xffpppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "rank 7"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1", "side"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w kqKQ - 0 1", "castling"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KK - 0 1", "castling"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w K- - 0 1", "castling"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w  - 0 1", "castling: got nothing"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w KQkq - 0 1", "without king and rook in place"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e6 0 1", "no pawn can have just passed it"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e3 0 1", "a square of rank 6"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq z6 0 1", "want a square"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - -1 1", "half moves"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 0", "move number"},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 99999999999999999999", "move number"},
		{"rnbq1bnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQ - 0 1", "0 kings of Black"},
		{"rnbqkbnr/pppppppp/8/4K3/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", "2 kings of White"},
		{"rnbqkbnr/pppppppp/8/8/8/Q7/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "17 pieces of White"},
		{"rnbqkbnr/pppppppp/8/8/8/P7/PPPPPPPP/R1BQKBNR w KQkq - 0 1", "9 pawns of White"},
		{"P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "pawns on the first or last rank"},
		{"4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "could take the king"},
		{"8/8/8/8/8/3kK3/8/8 w - - 0 1", "could take the king"},
	} {
		_, err := Parse(c.fen)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
			t.Errorf("%.80q: got error %v, want one line with %q", c.fen, err, c.want)
		}
	}
}

func TestFEN(t *testing.T) {
	for _, c := range []struct{ in, want, key string }{
		{Start, Start, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"},
		// No pawn can take on e3, so it is not named.
		{"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", ""},
		{"rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3", "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3", ""},
		// The capture would open the rank to the king.
		{"8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 9", "8/8/8/8/k2pP2R/8/8/4K3 b - - 0 9", "8/8/8/8/k2pP2R/8/8/4K3 b - -"},
		{"r3k2r/8/8/8/8/8/8/R3K2R b Kq - 12 34", "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 12 34", ""},
	} {
		p, err := Parse(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.FEN(); got != c.want {
			t.Errorf("FEN of %q: got %q, want %q", c.in, got, c.want)
		}
		if got := p.Key(); c.key != "" && got != c.key {
			t.Errorf("key of %q: got %q, want %q", c.in, got, c.key)
		}
	}
}

// play gives a position of random legal play.
func play(seed uint64, plies int) Position {
	r := rand.New(rand.NewPCG(seed, 7))
	p, err := Parse(Start)
	if err != nil {
		panic(err)
	}
	for range plies {
		moves := p.Legal(nil)
		if len(moves) == 0 {
			break
		}
		p = p.Make(moves[r.IntN(len(moves))])
	}
	return p
}

// TestWalks compares the lazy walks with the plain list, in positions of random play.
func TestWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := play(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 150).Draw(t, "plies"))
		again, err := Parse(p.FEN())
		if err != nil || again.FEN() != p.FEN() {
			t.Fatalf("%q: got %q (%v) after reading it again", p.FEN(), again.FEN(), err)
		}
		legal := p.Legal(nil)
		if p.CanMove() != (len(legal) > 0) || p.Mated() != (len(legal) == 0 && p.InCheck()) {
			t.Fatalf("%q: CanMove %v, Mated %v with %d legal moves", p.FEN(), p.CanMove(), p.Mated(), len(legal))
		}
		all, checks, captures := map[Move]bool{}, map[Move]bool{}, map[Move]bool{}
		for _, m := range legal {
			q := p.Make(m)
			all[m] = true
			if q.InCheck() {
				checks[m] = true
			}
			if p.Capture(m) || m.Promotion() != None {
				captures[m] = true
			}
			if !p.IsLegal(m) {
				t.Fatalf("%q: %v is listed, but not legal", p.FEN(), m)
			}
			if back, err := ParseMove(m.String()); err != nil || back != m {
				t.Fatalf("%v: read again as %v, %v", m, back, err)
			}
		}
		for name, walk := range map[string]struct {
			want map[Move]bool
			got  func(func(Move, *Position) bool)
		}{"all": {all, p.Next()}, "checks": {checks, p.NextChecks()}, "captures": {captures, p.NextCaptures()}} {
			n := 0
			for m, q := range walk.got {
				if want := p.Make(m); !walk.want[m] || *q != want {
					t.Fatalf("%q: %s: got %v", p.FEN(), name, m)
				}
				n++
			}
			if n != len(walk.want) {
				t.Fatalf("%q: %s: got %d moves, want %d", p.FEN(), name, n, len(walk.want))
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{Start, "8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 9", "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 12 34", "8/8/8/8/8/8/8/8 w - - 0 1", "////////"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, fen string) {
		p, err := Parse(fen)
		if err != nil {
			return
		}
		again, err := Parse(p.FEN())
		if err != nil || again.FEN() != p.FEN() {
			t.Fatalf("%q: written as %q, which is read as %q (%v)", fen, p.FEN(), again.FEN(), err)
		}
		for _, q := range p.Next() { // every legal move leads to a position that can be read
			if _, err := Parse(q.FEN()); err != nil && p.full < maxFull && p.half < maxHalf {
				t.Fatalf("%q leads to %v", fen, err)
			}
		}
	})
}

func FuzzParseMove(f *testing.F) {
	for _, s := range []string{"e2e4", "a7a8q", "e1g1", "", "e2e2", "i9a1", "a7a8k", "E2E4", "\xff\xff\xff\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMove(s)
		if err == nil && m.String() != s {
			t.Fatalf("%q: read as %v", s, m)
		}
		if err == nil && m.From() == m.To() {
			t.Fatalf("%q: a move to where it starts", s)
		}
	})
}
