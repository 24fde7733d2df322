package bitboard

import (
	"testing"
	"time"
)

// The positions and counts are those that chess programs are usually tested with (chessprogramming.org, Perft Results).
func TestPerft(t *testing.T) {
	start := time.Now()
	total := 0
	for _, c := range []struct {
		name, fen string
		want      []int
	}{
		{"initial", Start, []int{20, 400, 8902, 197281}},
		{"kiwipete", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", []int{48, 2039, 97862}},
		{"endgame", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", []int{14, 191, 2812, 43238, 674624}},
		{"promotions", "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", []int{6, 264, 9467, 422333}},
		{"promotions mirrored", "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", []int{6, 264, 9467}},
		{"promotion with check", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", []int{44, 1486, 62379}},
		{"middle game", "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", []int{46, 2079, 89890}},
		{"en passant that opens a check", "3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1", []int{18, 92, 1670, 10138, 185429}},
		{"en passant that gives check", "8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", []int{15, 126, 1928, 13931}},
		{"castling that gives check", "5k2/8/8/8/8/8/8/4K2R w K - 0 1", []int{15, 66, 1198, 6399}},
		{"castling prevented", "r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", []int{44, 1494, 50509}},
		{"promotion out of check", "2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1", []int{11, 133, 1442, 19174}},
		{"discovered check", "8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1", []int{29, 165, 5160, 31961}},
		{"stalemate and mate", "8/8/2k5/5q2/5n2/8/5K2/8 b - - 0 1", []int{37, 183, 6559, 23527}},
	} {
		p, err := Parse(c.fen)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			got := p.Perft(i + 1)
			total += got
			if got != want {
				t.Errorf("%s: depth %d: got %d, want %d", c.name, i+1, got, want)
			}
		}
	}
	t.Logf("%d leaves, %.1f million/s", total, float64(total)/time.Since(start).Seconds()/1e6)
}
