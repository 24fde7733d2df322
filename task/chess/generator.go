package chess

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

// The kinds of generated puzzles. In each, exactly one first move is right.
const (
	KindMate1   = "mate-in-1" // one move mates
	KindMate2   = "mate-in-2" // none mates, one forces mate with the next; the reply is one after which one move mates
	KindCapture = "capture"   // no mate in two; one move wins material, and it is a capture or a promotion
	KindThreat  = "threat"    // the same, but the move is quiet; after the best reply, one move takes what was won
)

// Mix says in which shares the kinds are made. Only their ratios count.
type Mix struct {
	Mate1   float64 `json:"mate1" yaml:"mate1"`     // weight of mates in one
	Mate2   float64 `json:"mate2" yaml:"mate2"`     // weight of mates in two
	Capture float64 `json:"capture" yaml:"capture"` // weight of captures that win material
	Threat  float64 `json:"threat" yaml:"threat"`   // weight of moves that win material on the next one
}

// GeneratorOptions decides every generated puzzle: equal options, equal puzzles.
type GeneratorOptions struct {
	Seed      uint64 `json:"seed" yaml:"seed"` // equal seeds and options give equal puzzles
	Counts    Counts `json:"counts" yaml:"counts"`
	Mix       Mix    `json:"mix" yaml:"mix"`
	MinPlies  int    `json:"min_plies" yaml:"min_plies"`   // random moves before the first position that may be a puzzle
	MaxPlies  int    `json:"max_plies" yaml:"max_plies"`   // of a game
	MaxPieces int    `json:"max_pieces" yaml:"max_pieces"` // on the board, kings included; 3 to 32
	MaxMoves  int    `json:"max_moves" yaml:"max_moves"`   // legal moves of the first position: the fewer, the more often chance is right
	MinGain   int    `json:"min_gain" yaml:"min_gain"`     // of a win of material, in pawns
}

// DefaultGeneratorOptions gives half mates in one, and the rest mates in two and captures that win at least a piece. Threats are left out: one takes some 50 ms to find.
func DefaultGeneratorOptions() GeneratorOptions {
	return GeneratorOptions{
		Seed: 1, Counts: Counts{Train: 2048, Search: 128, Validation: 128, Test: 256},
		Mix: Mix{Mate1: 0.5, Mate2: 0.2, Capture: 0.3}, MinPlies: 6, MaxPlies: 120, MaxPieces: 32, MaxMoves: bitboard.MaxMoves, MinGain: 3,
	}
}

// Validate reports options out of range.
func (o GeneratorOptions) Validate() error {
	if err := validateCounts(o.Counts, "generator.counts"); err != nil {
		return err
	}
	sum := 0.0
	for i, key := range []string{"mate1", "mate2", "capture", "threat"} {
		share := o.Mix.shares()[i]
		if !(share >= 0 && share <= 1e6) {
			return fmt.Errorf("generator.mix.%s: got %v, want 0 to 1e6", key, share)
		}
		sum += share
	}
	switch {
	case sum == 0:
		return fmt.Errorf("generator.mix: got no share of any kind, want some")
	case o.MaxPlies < 1 || o.MaxPlies > 400:
		return fmt.Errorf("generator.max_plies: got %d, want 1 to 400", o.MaxPlies)
	case o.MinPlies < 0 || o.MinPlies >= o.MaxPlies:
		return fmt.Errorf("generator.min_plies: got %d, want 0 to less than max_plies %d", o.MinPlies, o.MaxPlies)
	case o.MaxPieces < 3 || o.MaxPieces > 32:
		return fmt.Errorf("generator.max_pieces: got %d, want 3 to 32", o.MaxPieces)
	case o.MaxMoves < 2 || o.MaxMoves > bitboard.MaxMoves:
		return fmt.Errorf("generator.max_moves: got %d, want 2 to %d", o.MaxMoves, bitboard.MaxMoves)
	case o.MinGain < 1 || o.MinGain > 9:
		return fmt.Errorf("generator.min_gain: got %d, want 1 to 9", o.MinGain)
	}
	return nil
}

func kinds() []string { return []string{KindMate1, KindMate2, KindCapture, KindThreat} }

func (m Mix) shares() []float64 { return []float64{m.Mate1, m.Mate2, m.Capture, m.Threat} }

// Generator makes puzzles. It holds no state: each method is a function of the options.
type Generator struct{ options GeneratorOptions }

// NewGenerator checks the options.
func NewGenerator(o GeneratorOptions) (*Generator, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("chess: %w", err)
	}
	return &Generator{o}, nil
}

// Generate makes the puzzles of every split, as many as the options count. How many one split wants changes nothing in another.
func (g *Generator) Generate(ctx context.Context) (map[whale.Split][]Puzzle, error) {
	wanted := map[string]int{}
	for _, s := range splits() {
		wanted[string(s)], _ = g.options.Counts.Of(s)
	}
	found, err := g.fill(ctx, wanted)
	if err != nil {
		return nil, err
	}
	out := map[whale.Split][]Puzzle{}
	for _, s := range splits() {
		out[s] = found[string(s)]
	}
	return out, nil
}

// Pretrain makes n puzzles for a pre-training corpus, from positions that no split draws on.
func (g *Generator) Pretrain(ctx context.Context, n int) ([]Puzzle, error) {
	if n < 0 || n > maxCount {
		return nil, fmt.Errorf("chess: got %d pre-training puzzles, want 0 to %d", n, maxCount)
	}
	found, err := g.fill(ctx, map[string]int{bucketPretrain: n})
	return found[bucketPretrain], err
}

// fill plays random games until every bucket has of every kind its number of distinct puzzles. The games are the same whatever is wanted.
func (g *Generator) fill(ctx context.Context, wanted map[string]int) (map[string][]Puzzle, error) {
	f := newFiller(g.options, wanted)
	// The rarest kind in the smallest bucket is found in about one game of a hundred; far fewer means that the options allow next to nothing.
	most := 20_000
	for _, n := range wanted {
		most += 5_000 * n
	}
	for games := 0; f.left > 0; games++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if games == most {
			return nil, fmt.Errorf("chess: generator: %d puzzles are still wanting after %d games (%s); raise max_pieces or max_moves, lower min_gain, or ask for fewer",
				f.left, games, f.wanting())
		}
		f.play(source(g.options.Seed, fmt.Sprint("game ", games)))
	}
	for _, b := range generatedBuckets() {
		found := f.found[b.Name]
		// Common kinds are complete before rare ones.
		source(g.options.Seed, "order of "+b.Name).Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	}
	return f.found, nil
}

// quotas splits n by shares: whole parts first, then one each to the largest remainders.
func quotas(shares []float64, n int) []int {
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	out, rest, left := make([]int, len(shares)), make([]float64, len(shares)), n
	for i, s := range shares {
		exact := float64(n) * s / sum
		out[i] = int(exact)
		rest[i] = exact - float64(out[i])
		left -= out[i]
	}
	for ; left > 0; left-- {
		best := 0
		for i := range rest {
			if rest[i] > rest[best] {
				best = i
			}
		}
		out[best]++
		rest[best] = -1
	}
	return out
}

// source is the random source of one thing.
func source(seed uint64, of string) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "whale/chess/generator/%d/%s", seed, of))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}
