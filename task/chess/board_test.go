package chess

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

func setUp(t testing.TB, fen string) *board {
	t.Helper()
	b, err := newBoard(fen)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// perft counts leaves on the environment's board.
func perft(b *board, depth int) int {
	if depth == 1 {
		return len(b.legal())
	}
	n := 0
	for _, m := range b.legal() {
		n += perft(b.play(m), depth-1)
	}
	return n
}

// The same table as of package bitboard, as deep as the library is fast.
func TestPerft(t *testing.T) {
	for _, c := range []struct {
		fen  string
		want []int
	}{
		{bitboard.Start, []int{20, 400}},
		{"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", []int{48, 2039}},
		{"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", []int{14, 191, 2812}},
		{"r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", []int{6, 264}},
		{"rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", []int{44, 1486}},
		{"8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", []int{15, 126, 1928}},
		{"r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", []int{44, 1494}},
		{"2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1", []int{11, 133, 1442}},
	} {
		for i, want := range c.want {
			if got := perft(setUp(t, c.fen), i+1); got != want {
				t.Errorf("%s: depth %d: got %d, want %d", c.fen, i+1, got, want)
			}
		}
	}
}

// TestBoardsAgree plays at random on both boards: the same moves, FENs, checks and mates.
func TestBoardsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p, err := bitboard.Parse(bitboard.Start)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBoard(bitboard.Start)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 40).Draw(t, "plies") {
			var want []string
			marks := map[string]string{}
			for m, q := range p.Next() {
				want = append(want, m.String())
				if q.Mated() {
					marks[m.String()] = "#"
				} else if q.InCheck() {
					marks[m.String()] = "+"
				}
			}
			slices.Sort(want)
			sans := map[string]bool{}
			for i, m := range b.notated() {
				if i >= len(want) || m.uci != want[i] {
					t.Fatalf("%s: got moves %v, want %v", p.FEN(), b.legal(), want)
				}
				if m.marked != m.san+marks[m.uci] {
					t.Fatalf("%s: %s: got %s marked as %s, want the mark %q", p.FEN(), m.uci, m.san, m.marked, marks[m.uci])
				}
				sans[m.san] = true
			}
			if len(b.legal()) != len(want) || len(sans) != len(want) {
				t.Fatalf("%s: got %d moves and %d of them in SAN, want %d", p.FEN(), len(b.legal()), len(sans), len(want))
			}
			if b.fen() != p.FEN() || b.side() != p.Side().String() || b.mated() != p.Mated() {
				t.Fatalf("got %s, %s to move, mated %v; want %s, %v, %v", b.fen(), b.side(), b.mated(), p.FEN(), p.Side(), p.Mated())
			}
			if len(want) == 0 {
				return
			}
			next := want[r.IntN(len(want))]
			m, ok := b.find(next)
			played, err := bitboard.ParseMove(next)
			if !ok || err != nil {
				t.Fatalf("%s: %s is not found (%v)", p.FEN(), next, err)
			}
			b, p = b.play(m), p.Make(played)
			if r.IntN(8) == 0 { // set up anew, as an episode does
				if b, err = newBoard(p.FEN()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestSAN(t *testing.T) {
	for _, c := range []struct{ fen, uci, san, marked string }{
		{"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O", "O-O"},
		{"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", "O-O-O", "O-O-O"},
		{"5k2/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", "O-O", "O-O+"},
		{"8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", "c4d3", "cxd3", "cxd3+"},
		{"rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", "d7c8q", "dxc8=Q", "dxc8=Q"},
		{"2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1", "e7f8n", "exf8=N", "exf8=N"},
		{"6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", "Ra8", "Ra8#"},
		{"4k3/8/8/8/8/2N5/8/2N1K3 w - - 0 1", "c3e2", "N3e2", "N3e2"},
		{"4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "a1d1", "Rd1", "Rd1"},
		{"1k6/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "Qh4e1", "Qh4e1"}, // neither file nor rank is enough
	} {
		b := setUp(t, c.fen)
		b.notated()
		m, ok := b.find(c.uci)
		if !ok || m.san != c.san || m.marked != c.marked {
			t.Errorf("%s %s: got %v %q %q, want %q %q", c.fen, c.uci, ok, m.san, m.marked, c.san, c.marked)
		}
	}
}

// TestBoardsAtOnce sets up different positions from many goroutines: nothing is shared.
func TestBoardsAtOnce(t *testing.T) {
	fens := []string{
		bitboard.Start,
		"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 60 {
				fen := fens[(i+j)%len(fens)]
				b, err := newBoard(fen)
				if err != nil || b.fen() != fen {
					t.Errorf("got %v (%v), want %s", b, err, fen)
					return
				}
				for _, m := range b.notated() {
					if strings.ContainsAny(m.san, "+#") {
						t.Errorf("%s: got %s", fen, m.san)
					}
				}
			}
		})
	}
	wg.Wait()
}
