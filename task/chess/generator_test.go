package chess

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/chess/bitboard"
)

func generator(t testing.TB, set func(o *GeneratorOptions)) *Generator {
	t.Helper()
	o := DefaultGeneratorOptions()
	o.Mix = Mix{Mate1: 1, Mate2: 1, Capture: 1, Threat: 0.1}
	o.Counts = Counts{Train: 31, Search: 31, Validation: 31, Test: 31}
	if set != nil {
		set(&o)
	}
	g, err := NewGenerator(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGeneratedPuzzles checks every puzzle on the environment's board, which the generator does not use.
func TestGeneratedPuzzles(t *testing.T) {
	g := generator(t, nil)
	keys := map[string]string{}
	start := time.Now()
	all := 0
	made, err := g.Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if made[bucketPretrain], err = g.Pretrain(t.Context(), 31); err != nil {
		t.Fatal(err)
	}
	for bucket, puzzles := range made {
		bucket := string(bucket)
		if len(puzzles) != 31 {
			t.Fatalf("%s: got %d puzzles, want 31", bucket, len(puzzles))
		}
		kinds := map[string]int{}
		for _, p := range puzzles {
			all++
			key, _, err := p.check()
			if err != nil {
				t.Fatal(err)
			}
			if before, ok := keys[key]; ok {
				t.Errorf("%s: %s is in %s already", bucket, key, before)
			}
			keys[key] = bucket
			kinds[p.Meta[MetaKind]]++
			checkPuzzle(t, p)
		}
		if want := map[string]int{KindMate1: 10, KindMate2: 10, KindCapture: 10, KindThreat: 1}; !reflect.DeepEqual(kinds, want) {
			t.Errorf("%s: got kinds %v, want %v", bucket, kinds, want)
		}
	}
	t.Logf("%d puzzles in %v", all, time.Since(start))
}

func checkPuzzle(t *testing.T, p Puzzle) {
	t.Helper()
	b := setUp(t, p.FEN)
	mating := func(b *board) (out []string) {
		for _, m := range b.notated() {
			if strings.HasSuffix(m.marked, "#") {
				out = append(out, m.uci)
			}
		}
		return out
	}
	at := parse(t, p.FEN)
	first, err := bitboard.ParseMove(p.Line[0])
	if err != nil {
		t.Fatal(err)
	}
	switch mates := mating(b); p.Meta[MetaKind] {
	case KindMate1:
		if len(p.Line) != 1 || len(mates) != 1 || mates[0] != p.Line[0] {
			t.Errorf("%+v: got mates %v", p, mates)
		}
	case KindMate2:
		if len(p.Line) != 3 || len(mates) != 0 {
			t.Fatalf("%+v: got mates %v", p, mates)
		}
		if forcing := naiveForcing(at); len(forcing) != 1 || forcing[0] != first {
			t.Errorf("%+v: got moves %v that force mate", p, forcing)
		}
		m, _ := b.find(p.Line[0])
		b = b.play(m)
		r, _ := b.find(p.Line[1])
		if mates := mating(b.play(r)); len(mates) != 1 || mates[0] != p.Line[2] {
			t.Errorf("%+v: got mates %v after the reply", p, mates)
		}
	case KindCapture, KindThreat:
		if len(mates) != 0 || at.Capture(first) != (p.Meta[MetaKind] == KindCapture) && first.Promotion() == bitboard.None {
			t.Errorf("%+v: got mates %v", p, mates)
		}
		for _, m := range at.Legal(nil) {
			if won := wins(at, m, 1); won != (m == first) {
				t.Errorf("%+v: %v wins material: %v", p, m, won)
			}
		}
		if !wins(at, first, 3) || len(p.Line) != map[string]int{KindCapture: 1, KindThreat: 3}[p.Meta[MetaKind]] {
			t.Errorf("%+v: wins less than a piece", p)
		}
	}
}

func TestGeneratorDecidesBySeed(t *testing.T) {
	test := func(seed uint64, counts Counts) []Puzzle {
		puzzles, err := generator(t, func(o *GeneratorOptions) {
			o.Seed, o.Mix, o.Counts = seed, Mix{Mate1: 1, Mate2: 0.2, Capture: 1}, counts
		}).Generate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return puzzles[whale.SplitTest]
	}
	one := test(5, Counts{Test: 20})
	if !reflect.DeepEqual(one, test(5, Counts{Test: 20})) {
		t.Error("got other puzzles for the same seed")
	}
	if !reflect.DeepEqual(one, test(5, Counts{Test: 20, Train: 30, Search: 1})) {
		t.Error("got other puzzles of one split for another size of the others")
	}
	if reflect.DeepEqual(one, test(6, Counts{Test: 20})) {
		t.Error("got the same puzzles for another seed")
	}
	if one[0].FEN == "" || one[0].Trigger == "" {
		t.Errorf("got %+v, want position and trigger", one[0])
	}
}

func TestGeneratorBounds(t *testing.T) {
	g := generator(t, func(o *GeneratorOptions) {
		o.Mix, o.Counts, o.MaxPieces, o.MaxMoves, o.MinPlies = Mix{Mate1: 1}, Counts{Train: 12}, 24, 30, 40
	})
	puzzles, err := g.Generate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range puzzles[whale.SplitTrain] {
		at := parse(t, p.FEN)
		if _, full := at.Counters(); at.Pieces() > 24 || len(at.Legal(nil)) > 30 || full < 20 {
			t.Errorf("got %s", p.FEN)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Generate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: got %v", err)
	}
	if _, err := g.Pretrain(t.Context(), -1); err == nil {
		t.Error("a negative number: got no error")
	}
	// No position of the first two plies is a puzzle.
	none := generator(t, func(o *GeneratorOptions) { o.MinPlies, o.MaxPlies, o.Counts = 0, 1, Counts{Test: 1} })
	if _, err := none.Generate(t.Context()); err == nil || !strings.Contains(err.Error(), "1 puzzles are still wanting after 25000 games (1 mate-in-1 of test)") {
		t.Errorf("options that allow nothing: got %v", err)
	}
}

func TestQuotas(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		n      int
		want   []int
	}{
		{[]float64{1, 1, 1}, 10, []int{4, 3, 3}},
		{[]float64{0.5, 0.2, 0.3, 0}, 1, []int{1, 0, 0, 0}},
		{[]float64{0, 0, 2, 0}, 7, []int{0, 0, 7, 0}},
		{[]float64{1, 1}, 0, []int{0, 0}},
		{[]float64{1e-9, 1}, 5, []int{0, 5}},
	} {
		if got := quotas(c.shares, c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("quotas(%v, %d): got %v, want %v", c.shares, c.n, got, c.want)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	o := DefaultGeneratorOptions()
	g, err := NewGenerator(o)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := g.Pretrain(b.Context(), 200); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/200, "ms/puzzle")
}
