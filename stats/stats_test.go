package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestMeanInterval(t *testing.T) {
	// Means of the examples: 1, 0.5, 0, 0.5.
	rewards := [][]float64{{1, 1}, {0, 1}, {0, 0}, {1, 0}}
	e, err := MeanInterval(rewards, 1)
	if err != nil {
		t.Fatal(err)
	}
	if e.Mean != 0.5 {
		t.Fatalf("got %+v", e)
	}
	// The mean of four draws from {1, ½, 0, ½}: twice the sum is binomial(8, ½) in quarters of a half, so its 2.5% point is
	// 1/8 (P = 9/256 at or below) and its 97.5% point 7/8.
	if !near(e.Low, 0.125, 1e-9) || !near(e.High, 0.875, 1e-9) {
		t.Fatalf("got interval [%v, %v], want [0.125, 0.875]", e.Low, e.High)
	}
	again, err := MeanInterval(rewards, 1)
	if err != nil || again != e {
		t.Fatalf("again: got %+v, %v", again, err)
	}
}

func TestNoSpread(t *testing.T) {
	one, err := MeanInterval([][]float64{{1, 0}}, 1)
	if err != nil || one.Mean != 0.5 || one.Low != 0 || one.High != 1 {
		t.Errorf("one example: got %+v, %v", one, err)
	}
	ten := make([][]float64, 10)
	for i := range ten {
		ten[i] = []float64{1}
	}
	e, err := MeanInterval(ten, 1)
	// Wilson for 10 of 10 at 95%: 1/(1+z²/10) = 0.7225.
	if err != nil || e.Mean != 1 || !near(e.Low, 0.722467, 1e-6) || e.High != 1 {
		t.Errorf("all right: got %+v, %v", e, err)
	}
	d, err := DifferenceInterval(ten, ten, 1)
	if err != nil || d.Mean != 0 || !near(d.Low, -d.High, 1e-12) || d.High <= 0.2 {
		t.Errorf("the same agent twice: got %+v, %v", d, err)
	}
	d, err = DifferenceInterval(ten[:1], ten[:1], 1)
	if err != nil || d.Low != -1 || d.High != 1 {
		t.Errorf("one example: got %+v, %v", d, err)
	}
}

// Differences that rounding alone makes unequal are equal ones: the interval is that of so many trials, and not one of the width of the
// rounding.
func TestEqualUpToRounding(t *testing.T) {
	tenth := func(k int) []float64 { // a mean of k/10
		draws := make([]float64, 10)
		for i := range k {
			draws[i] = 1
		}
		return draws
	}
	a, b := [][]float64{tenth(3), tenth(2), tenth(7)}, [][]float64{tenth(2), tenth(1), tenth(6)}
	if mean(a[0])-mean(b[0]) == mean(a[1])-mean(b[1]) {
		t.Fatal("these differences are equal in the last bit too: the test shows nothing")
	}
	got, err := DifferenceInterval(a, b, 1)
	want, err2 := DifferenceInterval([][]float64{tenth(1), tenth(1), tenth(1)}, [][]float64{{0}, {0}, {0}}, 1)
	if err != nil || err2 != nil || !near(got.Low, want.Low, 1e-9) || !near(got.High, want.High, 1e-9) || got.High-got.Low < 0.5 {
		t.Errorf("got %+v, %v, want %+v, %v", got, err, want, err2)
	}
	third := [][]float64{{0.1, 0.2, 0.3}, {0.3, 0.2, 0.1}, {0.2, 0.2, 0.2}}
	if got, err := MeanInterval(third, 1); err != nil || got.High-got.Low < 0.3 {
		t.Errorf("means: got %+v, %v, want Wilson's interval of three trials", got, err)
	}
	// The least real difference of means still counts.
	if got, err := MeanInterval([][]float64{tenth(3), tenth(3), tenth(4)}, 1); err != nil || got.High-got.Low > 0.2 {
		t.Errorf("unequal means: got %+v, %v, want a bootstrap", got, err)
	}
}

func TestRefused(t *testing.T) {
	good := [][]float64{{1}, {0}}
	for name, rewards := range map[string][][]float64{"nil": nil, "no rows": {}, "no draws": {{}, {}}} {
		if _, err := MeanInterval(rewards, 1); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: got %v, want ErrEmpty", name, err)
		}
		if _, err := DifferenceInterval(good, rewards, 1); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: got %v, want ErrEmpty", name, err)
		}
	}
	for name, rewards := range map[string][][]float64{
		"nan": {{math.NaN()}}, "negative": {{-1}}, "above": {{1.1}},
	} {
		if _, err := MeanInterval(rewards, 1); err == nil {
			t.Errorf("%s: got nil, want an error", name)
		}
	}
	if _, err := DifferenceInterval(good, good[:1], 1); err == nil {
		t.Error("other examples: got nil, want an error")
	}
	if _, _, err := Wilson(0, 0, 0.95); !errors.Is(err, ErrEmpty) {
		t.Errorf("no trials: got %v", err)
	}
	if _, _, err := ClopperPearson(3, 2, 0.95); err == nil {
		t.Error("3 of 2: got nil, want an error")
	}
	if _, err := McNemar(nil, nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("no outcomes: got %v", err)
	}
	if _, err := McNemar([]bool{true}, nil); err == nil {
		t.Error("unequal lengths: got nil, want an error")
	}
}

// The binomial sums and the formula, evaluated with integer coefficients in Python.
func TestProportions(t *testing.T) {
	for _, c := range []struct {
		k, n                        int
		exactLow, exactHigh, wl, wh float64
	}{
		{5, 10, 0.1870860, 0.8129140, 0.2365931, 0.7634069},
		{0, 10, 0, 0.3084971, 0, 0.2775328},
		{10, 10, 0.6915029, 1, 0.7224672, 1},
		{1, 20, 0.0012651, 0.2487328, 0.0088815, 0.2361307},
		{81, 263, 0.2527367, 0.3676219, 0.2552885, 0.3662096},
	} {
		low, high, err := ClopperPearson(c.k, c.n, 0.95)
		if err != nil || !near(low, c.exactLow, 2e-6) || !near(high, c.exactHigh, 2e-6) {
			t.Errorf("exact %d of %d: got [%.7f, %.7f], %v, want [%.7f, %.7f]", c.k, c.n, low, high, err, c.exactLow, c.exactHigh)
		}
		low, high, err = Wilson(c.k, c.n, 0.95)
		if err != nil || !near(low, c.wl, 2e-6) || !near(high, c.wh, 2e-6) {
			t.Errorf("wilson %d of %d: got [%.7f, %.7f], %v, want [%.7f, %.7f]", c.k, c.n, low, high, err, c.wl, c.wh)
		}
	}
}

func TestMcNemar(t *testing.T) {
	outcomes := func(both, first, second, none int) (a, b []bool) {
		for _, c := range []struct {
			n    int
			x, y bool
		}{{both, true, true}, {first, true, false}, {second, false, true}, {none, false, false}} {
			for range c.n {
				a, b = append(a, c.x), append(b, c.y)
			}
		}
		return a, b
	}
	for _, c := range []struct {
		first, second int
		p             float64
	}{
		{0, 0, 1}, {5, 5, 1}, {0, 5, 0.0625}, {1, 9, 22.0 / 1024}, {10, 0, 2.0 / 1024}, {3, 4, 1}, {2, 10, 2 * 79.0 / 4096},
	} {
		a, b := outcomes(7, c.first, c.second, 3)
		r, err := McNemar(a, b)
		if err != nil || r.OnlyFirst != c.first || r.OnlySecond != c.second || !near(r.P, c.p, 1e-12) {
			t.Errorf("%d against %d: got %+v, %v, want p = %v", c.first, c.second, r, err, c.p)
		}
	}
}

func TestDifferenceInterval(t *testing.T) {
	a := [][]float64{{0, 0}, {1, 0}, {1, 1}, {0, 0}}
	b := [][]float64{{1, 1}, {1, 0}, {1, 0}, {0, 1}}
	e, err := DifferenceInterval(a, b, 1)
	if err != nil || e.Mean != -0.25 || e.Low > e.Mean || e.High < e.Mean { // differences -1, 0, ½, -½
		t.Fatalf("got %+v, %v", e, err)
	}
	back, err := DifferenceInterval(b, a, 1)
	if err != nil || !near(back.Mean, -e.Mean, 1e-12) || !near(back.Low, -e.High, 0.13) || !near(back.High, -e.Low, 0.13) {
		t.Fatalf("the other way round: got %+v of %+v, %v", back, e, err)
	}
}

func TestIntervalsHoldTheMean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(1, 10).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "k")
		matrix := func(name string) [][]float64 {
			m := make([][]float64, n)
			for i := range m {
				m[i] = make([]float64, k)
				for j := range m[i] {
					m[i][j] = float64(rapid.IntRange(0, 1).Draw(t, name))
				}
			}
			return m
		}
		b := rapid.Uint64().Draw(t, "seed")
		x, y := matrix("x"), matrix("y")
		for _, m := range [][][]float64{x, y} {
			e, err := MeanInterval(m, b)
			if err != nil || e.Low < 0 || e.High > 1 || e.Low > e.Mean+1e-9 || e.High < e.Mean-1e-9 {
				t.Fatalf("got %+v, %v", e, err)
			}
		}
		e, err := DifferenceInterval(x, y, b)
		if err != nil || e.Low < -1 || e.High > 1 || e.Low > e.Mean+1e-9 || e.High < e.Mean-1e-9 {
			t.Fatalf("difference: got %+v, %v", e, err)
		}
	})
}

// Intervals of examples with dependent draws cover the true mean about as often as they say; treating all draws as
// independent would not.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const trials, n, k = 200, 40, 8
	covered := 0
	for trial := range trials {
		rewards := make([][]float64, n)
		for i := range rewards {
			p := rng.Float64() // of this example; its mean over examples is ½
			rewards[i] = make([]float64, k)
			for j := range rewards[i] {
				if rng.Float64() < p {
					rewards[i][j] = 1
				}
			}
		}
		e, err := MeanInterval(rewards, uint64(trial))
		if err != nil {
			t.Fatal(err)
		}
		if e.Low <= 0.5 && 0.5 <= e.High {
			covered++
		}
	}
	if rate := float64(covered) / trials; rate < 0.91 || rate > 0.985 {
		t.Fatalf("got coverage %.3f, want about 0.95", rate)
	}
}

func TestFastEnough(t *testing.T) {
	rewards := make([][]float64, 500)
	for i := range rewards {
		rewards[i] = []float64{float64(i % 2), float64(i % 3 / 2)}
	}
	start := time.Now()
	if _, err := MeanInterval(rewards, 1); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("500 examples took %v", d)
	} else {
		t.Logf("500 examples, 10,000 resamples: %v", d)
	}
}
