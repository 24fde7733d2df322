package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// outcomes are wins, losses and ties of single draws.
func outcomes(wins, losses, ties int) (first, second []int) {
	for range wins {
		first, second = append(first, 1), append(second, 0)
	}
	for range losses {
		first, second = append(first, 0), append(second, 1)
	}
	for i := range ties {
		first, second = append(first, i%2), append(second, i%2)
	}
	return first, second
}

func TestSignFlipOnSingleDrawsIsMcNemar(t *testing.T) {
	for _, c := range []struct {
		wins, losses, ties int
		p                  float64
	}{
		{5, 0, 3, 1.0 / 32}, {0, 5, 3, 1}, {6, 2, 0, 37.0 / 256}, {1, 1, 9, 3.0 / 4}, {0, 0, 4, 1},
	} {
		r, err := SignFlip(outcomesOf(c.wins, c.losses, c.ties))
		if err != nil || math.Abs(r.P-c.p) > 1e-12 {
			t.Errorf("%d wins, %d losses: got p %v, %v; want %v", c.wins, c.losses, r.P, err, c.p)
		}
		want := float64(c.wins-c.losses) / float64(c.wins+c.losses+c.ties)
		if r.Wins != c.wins || r.Losses != c.losses || math.Abs(r.Difference-want) > 1e-12 {
			t.Errorf("got %+v, want %d wins, %d losses, difference %v", r, c.wins, c.losses, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		wins, losses := rapid.IntRange(0, 60).Draw(t, "wins"), rapid.IntRange(0, 60).Draw(t, "losses")
		r, err := SignFlip(outcomesOf(wins, losses, 1))
		want := 1 - binomialCDF(wins-1, wins+losses, 0.5)
		if err != nil || math.Abs(r.P-want) > 1e-9 {
			t.Fatalf("%d wins, %d losses: got %v, %v; want the binomial tail %v", wins, losses, r.P, err, want)
		}
	})
}

func outcomesOf(wins, losses, ties int) (first, second []int, draws int) {
	first, second = outcomes(wins, losses, ties)
	return first, second, 1
}

// With several draws P is the share of all ways to flip the examples that give at least the difference.
func TestSignFlipAgainstAllFlips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draws := rapid.IntRange(1, 4).Draw(t, "draws")
		first := rapid.SliceOfN(rapid.IntRange(0, draws), 1, 9).Draw(t, "first")
		second := rapid.SliceOfN(rapid.IntRange(0, draws), len(first), len(first)).Draw(t, "second")
		r, err := SignFlip(first, second, draws)
		if err != nil {
			t.Fatal(err)
		}
		total, reached := 0, 0
		for i := range first {
			total += first[i] - second[i]
		}
		for flips := range 1 << len(first) {
			sum := 0
			for i := range first {
				d := first[i] - second[i]
				if flips>>i&1 == 1 {
					d = -d
				}
				sum += d
			}
			if sum >= total {
				reached++
			}
		}
		if want := float64(reached) / float64(int(1)<<len(first)); math.Abs(r.P-want) > 1e-12 {
			t.Fatalf("got %v, want %v", r.P, want)
		}
	})
}

// PairedBootstrap computes what resampling estimates.
func TestPairedBootstrapAgainstResamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		draws, n := 1+rng.IntN(3), 5+rng.IntN(20)
		first, second := make([]int, n), make([]int, n)
		pool := []int{draws, -draws}
		for i := range first {
			first[i], second[i] = rng.IntN(draws+1), rng.IntN(draws+1)
			pool = append(pool, first[i]-second[i])
		}
		r, err := PairedBootstrap(first, second, draws)
		if err != nil {
			t.Fatal(err)
		}
		const resamples = 20_000
		hits := 0
		for range resamples {
			sum := 0
			for range n {
				sum += pool[rng.IntN(len(pool))]
			}
			if sum <= 0 {
				hits++
			}
		}
		got := float64(hits) / resamples
		if se := math.Sqrt(r.P * (1 - r.P) / resamples); math.Abs(got-r.P) > 5*se+1e-3 {
			t.Errorf("%d examples, %d draws: got p %v, resampling gives %v", n, draws, r.P, got)
		}
	}
}

// Equal agents are found different no more often than the level says: computed over all outcomes of single draws, for every share of
// examples on which they differ.
func TestPairedTestsHoldTheirLevel(t *testing.T) {
	tests := map[string]func(first, second []int, draws int) (Paired, error){"sign flip": SignFlip, "bootstrap": PairedBootstrap}
	for name, test := range tests {
		for _, n := range []int{8, 24, 48} {
			for _, level := range []float64{0.05, 0.05 / 18, 0.0005} {
				rejects := make([]float64, n+1) // given the number of examples that differ
				for differ := range n + 1 {
					for wins := differ; 2*wins > differ; wins-- {
						r, err := test(outcomesOf(wins, differ-wins, n-differ))
						if err != nil {
							t.Fatal(err)
						}
						if r.P > level {
							break // and so does every smaller number of wins
						}
						rejects[differ] += binomialCDF(wins, differ, 0.5) - binomialCDF(wins-1, differ, 0.5)
					}
				}
				for q := 0.02; q < 1; q += 0.02 {
					size := 0.0
					for differ, r := range rejects {
						size += (binomialCDF(differ, n, q) - binomialCDF(differ-1, n, q)) * r
					}
					if size > level*(1+1e-6) {
						t.Fatalf("%s, %d examples, level %v: equal agents that differ on %.2f are found different with probability %v", name, n, level, q, size)
					}
				}
			}
		}
	}
}

// The same with several draws an example, whose chances to pass differ widely between examples: by simulation.
func TestPairedTestsHoldTheirLevelOnDraws(t *testing.T) {
	const trials, n, draws, level = 4000, 24, 3, 0.05
	rng := rand.New(rand.NewPCG(5, 6))
	rejected := map[string]int{}
	for range trials {
		first, second := make([]int, n), make([]int, n)
		for i := range n {
			p := rng.Float64() * rng.Float64()
			for range draws {
				if rng.Float64() < p {
					first[i]++
				}
				if rng.Float64() < p {
					second[i]++
				}
			}
		}
		for name, test := range map[string]func(first, second []int, draws int) (Paired, error){"sign flip": SignFlip, "bootstrap": PairedBootstrap} {
			r, err := test(first, second, draws)
			if err != nil {
				t.Fatal(err)
			}
			if r.P <= level {
				rejected[name]++
			}
		}
	}
	most := level*trials + 3*math.Sqrt(level*(1-level)*trials)
	for name, n := range rejected {
		if float64(n) > most || n < trials/200 {
			t.Errorf("%s: got %d of %d rejected, want %d to %.0f at level %v", name, n, trials, trials/200, most, level)
		}
	}
}

// A really better agent is found better.
func TestPairedTestsHavePower(t *testing.T) {
	for name, test := range map[string]func(first, second []int, draws int) (Paired, error){"sign flip": SignFlip, "bootstrap": PairedBootstrap} {
		if r, err := test(outcomesOf(20, 2, 42)); err != nil || r.P > 0.001 {
			t.Errorf("%s: 20 wins against 2 losses: got %+v, %v; want p under 0.001", name, r, err)
		}
		if r, err := test(outcomesOf(2, 20, 42)); err != nil || r.P < 0.99 {
			t.Errorf("%s: 2 wins against 20 losses: got %+v, %v; want p near 1", name, r, err)
		}
	}
}

func TestPairedTestsRefuse(t *testing.T) {
	for _, c := range []struct {
		first, second []int
		draws         int
		want          string
	}{
		{[]int{1}, []int{1, 0}, 1, "paired test: got 1 and 2 examples, want the same ones"},
		{[]int{1, 2}, []int{1, 0}, 1, "paired test: example 2: got 2 passes, want 0 to 1"},
		{[]int{-1}, []int{0}, 3, "paired test: example 1: got -1 passes, want 0 to 3"},
	} {
		for _, test := range []func(first, second []int, draws int) (Paired, error){SignFlip, PairedBootstrap} {
			if _, err := test(c.first, c.second, c.draws); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		}
	}
	if _, err := SignFlip(nil, nil, 1); !errors.Is(err, ErrEmpty) {
		t.Errorf("no examples: got %v, want ErrEmpty", err)
	}
	if _, err := PairedBootstrap([]int{0}, []int{0}, 0); !errors.Is(err, ErrEmpty) {
		t.Errorf("no draws: got %v, want ErrEmpty", err)
	}
}
