package chess

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

func parse(t testing.TB, fen string) *bitboard.Position {
	t.Helper()
	p, err := bitboard.Parse(fen)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// The naive twins look at every move, on plain lists.

func naiveMates(p *bitboard.Position) (out []bitboard.Move) {
	for _, m := range p.Legal(nil) {
		if q := p.Make(m); q.InCheck() && len(q.Legal(nil)) == 0 {
			out = append(out, m)
		}
	}
	return out
}

func naiveForcing(p *bitboard.Position) (out []bitboard.Move) {
	for _, m := range p.Legal(nil) {
		q := p.Make(m)
		replies := q.Legal(nil)
		all := len(replies) > 0
		for _, r := range replies {
			after := q.Make(r)
			all = all && len(naiveMates(&after)) > 0
		}
		if all {
			out = append(out, m)
		}
	}
	return out
}

// naiveSettle is settle without bounds, without the order of captures and without the lazy walks.
func naiveSettle(p *bitboard.Position, plies int) int {
	best := balance(p)
	if plies == 0 {
		return best
	}
	check := p.InCheck() && plies == exchangePlies
	if check {
		best = -mateScore
	}
	for _, m := range p.Legal(nil) {
		if !check && !p.Capture(m) && m.Promotion() == bitboard.None {
			continue
		}
		q := p.Make(m)
		best = max(best, -naiveSettle(&q, plies-1))
	}
	return best
}

// randomPosition plays at random, late enough that few pieces may be left: the naive search has no bounds.
func randomPosition(r *rand.Rand, plies int) bitboard.Position {
	p, err := bitboard.Parse(bitboard.Start)
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

func TestMatesAgainstTheNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := randomPosition(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3)), rapid.IntRange(0, 120).Draw(t, "plies"))
		want := naiveMates(&p)
		got := matingMoves(&p, nil)
		if len(got) != len(want) || canMate(&p) != (len(want) > 0) {
			t.Fatalf("%s: got mates %v, want %v", p.FEN(), got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: got mates %v, want %v", p.FEN(), got, want)
			}
		}
	})
	r := rand.New(rand.NewPCG(1, 2))
	mates := 0
	for range 300 {
		p := randomPosition(r, 20+r.IntN(100))
		mates += len(naiveMates(&p))
		if got, want := matingMoves(&p, nil), naiveMates(&p); !slices.Equal(got, want) {
			t.Fatalf("%s: got mates %v, want %v", p.FEN(), got, want)
		}
	}
	if mates < 5 {
		t.Errorf("got %d mates in all, too few to test anything", mates)
	}
	for range 60 {
		p := randomPosition(r, 60+r.IntN(60))
		got, want := forcingMoves(&p, bitboard.MaxMoves), naiveForcing(&p)
		if len(got) != len(want) {
			t.Fatalf("%s: got moves %v that force mate, want %v", p.FEN(), got, want)
		}
	}
}

func TestExchangeAgainstTheNaiveTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	tried := 0
	for tried < 60 {
		p := randomPosition(r, 150+r.IntN(150))
		if p.Pieces() > 16 {
			continue
		}
		tried++
		want := naiveSettle(&p, exchangePlies)
		if got := settle(&p, -mateScore, mateScore); got != want {
			t.Fatalf("%s: got %d, want %d", p.FEN(), got, want)
		}
		for bound := want - 1; bound <= want+1; bound++ {
			if got := settle(&p, bound-1, bound); (got >= bound) != (want >= bound) {
				t.Fatalf("%s: got %d in the window below %d, want %d", p.FEN(), got, bound, want)
			}
		}
	}
}

func TestWins(t *testing.T) {
	for _, c := range []struct {
		name, fen, move string
		gain            int
		want            bool
	}{
		{"a free rook", "4k3/8/8/3r4/8/8/8/3RK3 w - - 0 1", "d1d5", 5, true},
		{"no more than a rook", "4k3/8/8/3r4/8/8/8/3RK3 w - - 0 1", "d1d5", 6, false},
		{"a guarded rook, taken by a rook", "4k3/8/4p3/3r4/8/8/8/3RK3 w - - 0 1", "d1d5", 1, false},
		{"a guarded rook, taken by a bishop", "4k3/8/4p3/3r4/8/1B6/8/4K3 w - - 0 1", "b3d5", 2, true},
		{"a fork", "q3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", "d5c7", 9, true},
		{"a fork that can be taken", "q3k3/1b6/8/3N4/8/8/8/4K3 w - - 0 1", "d5b6", 1, false},
		{"a promotion", "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "e7e8q", 8, true},
		{"a promotion that is taken", "r7/4P1k1/8/8/8/8/8/4K3 w - - 0 1", "e7e8q", 1, false},
		{"a capture that stalemates", "7k/5Q2/6p1/8/8/8/8/K7 w - - 0 1", "f7g6", 1, false},
		{"a capture that is mated", "6k1/5ppp/8/8/8/p7/5PPP/r2R2K1 w - - 0 1", "d1a1", 5, true},
		{"a capture that lets mate in", "3r2k1/5ppp/8/8/8/p7/5PPP/3R2K1 w - - 0 1", "d1a1", 1, false},
	} {
		m, err := bitboard.ParseMove(c.move)
		if err != nil {
			t.Fatal(err)
		}
		p := parse(t, c.fen)
		if !p.IsLegal(m) {
			t.Fatalf("%s: %s is not legal", c.name, c.move)
		}
		if got := wins(p, m, c.gain); got != c.want {
			t.Errorf("%s: %s wins %d: got %v, want %v", c.name, c.move, c.gain, got, c.want)
		}
	}
}
