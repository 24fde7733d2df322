package lm

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// truncated is the distribution that draw must sample from, by a full sort in float64.
// close says that rounding decides where top-p cuts.
func truncated(logits []float32, r *Request) (dist []float64, close bool) {
	n := len(logits)
	order, p := make([]int, n), make([]float64, n)
	for i := range order {
		order[i] = i
		p[i] = math.Exp(float64(logits[i]-slices.Max(logits)) / float64(r.Temperature))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(logits[b], logits[a]), cmp.Compare(a, b)) })
	if r.TopK > 0 && r.TopK < n {
		order = order[:r.TopK]
	}
	sum := 0.0
	for _, i := range order {
		sum += p[i]
	}
	if r.TopP > 0 && r.TopP < 1 {
		cum, keep := 0.0, 0
		for keep < len(order) && (keep == 0 || cum < float64(r.TopP)*sum) {
			cum += p[order[keep]]
			keep++
			close = close || math.Abs(cum/sum-float64(r.TopP)) < 1e-5
		}
		order, sum = order[:keep], cum
	}
	out := make([]float64, n)
	for _, i := range order {
		out[i] = p[i] / sum
	}
	return out, close
}

// TestDrawProbability checks on random logits that a drawn token is one that the
// truncated distribution has, with that distribution's probability.
func TestDrawProbability(t *testing.T) {
	var s sampler
	rapid.Check(t, func(t *rapid.T) {
		logits := rapid.SliceOfN(rapid.Float32Range(-8, 8), 1, 60).Draw(t, "logits")
		r := Request{
			Seed: rapid.Uint64().Draw(t, "seed"), Temperature: rapid.SampledFrom([]float32{0.3, 1, 1, 2.5}).Draw(t, "temperature"),
			TopK: rapid.SampledFrom([]int{0, 1, 3, 20, 1000}).Draw(t, "topK"), TopP: rapid.SampledFrom([]float32{0, 0.05, 0.5, 0.9, 1}).Draw(t, "topP"),
		}
		want, close := truncated(logits, &r)
		if close {
			return
		}
		for pos := range 20 {
			tok, logp, sampleLogp, err := s.draw(logits, &r, pos)
			if err != nil {
				t.Fatal(err)
			}
			if p := math.Exp(float64(sampleLogp)); want[tok] == 0 || math.Abs(p-want[tok]) > 1e-4 {
				t.Fatalf("token %d: got probability %g, want %g", tok, p, want[tok])
			}
			full, _ := truncated(logits, &Request{Temperature: 1})
			if math.Abs(math.Exp(float64(logp))-full[tok]) > 1e-5 {
				t.Fatalf("token %d: got full probability %g, want %g", tok, math.Exp(float64(logp)), full[tok])
			}
		}
	})
}

// TestDrawFrequencies draws often and compares frequencies, so that the walk over
// the cumulative distribution is right and not only its bookkeeping.
func TestDrawFrequencies(t *testing.T) {
	logits := []float32{0, 2, -1, 2, 1, -30, 0.5}
	const draws = 20000
	var s sampler
	for _, r := range []Request{
		{Temperature: 1}, {Temperature: 0.5}, {Temperature: 1, TopK: 3}, {Temperature: 1, TopP: 0.8}, {Temperature: 2, TopK: 3, TopP: 0.7},
	} {
		want, _ := truncated(logits, &r)
		counts := make([]float64, len(logits))
		for i := range draws {
			r.Seed = uint64(i / 100)
			tok, _, _, err := s.draw(logits, &r, i%100)
			if err != nil {
				t.Fatal(err)
			}
			counts[tok]++
		}
		for i, c := range counts {
			p := want[i]
			if math.Abs(c-draws*p) > 5*math.Sqrt(draws*p*(1-p)) {
				t.Errorf("%+v: token %d: got %g draws, want about %g", r, i, c, draws*p)
			}
		}
	}
}

func TestDrawGreedy(t *testing.T) {
	var s sampler
	tok, logp, sampleLogp, err := s.draw([]float32{1, 3, 3, -2}, &Request{TopK: 2, TopP: 0.5}, 0)
	if err != nil || tok != 1 || sampleLogp != 0 || math.Abs(float64(logp)+math.Log(2+math.Exp(-2)+math.Exp(-5))) > 1e-6 {
		t.Errorf("got token %d, %g, %g, %v, want the first of the likeliest", tok, logp, sampleLogp, err)
	}
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		if _, _, _, err := s.draw([]float32{0, bad, 1}, &Request{Temperature: 1}, 0); err == nil {
			t.Errorf("logit %g: got no error", bad)
		}
	}
	// Temperatures at the ends of the range neither divide by zero nor lose the top.
	for _, temperature := range []float32{math.SmallestNonzeroFloat32, math.MaxFloat32} {
		if _, _, p, err := s.draw([]float32{0, 5, 1}, &Request{Temperature: temperature}, 0); err != nil || !finite(float64(p)) {
			t.Errorf("temperature %g: got log-probability %g, %v", temperature, p, err)
		}
	}
}

// TestUniform looks at the draws of neighbouring keys: mean, variance and correlation
// along each half of the key.
func TestUniform(t *testing.T) {
	const n = 200
	var mean, square, alongSeed, alongPos float64
	for seed := range uint64(n) {
		for pos := range uint64(n) {
			u := uniform(seed, pos) - 0.5
			mean += u
			square += u * u
			alongSeed += u * (uniform(seed+1, pos) - 0.5)
			alongPos += u * (uniform(seed, pos+1) - 0.5)
		}
	}
	for name, got := range map[string]float64{
		"mean": mean / n / n * math.Sqrt(12), "variance": (square/n/n*12 - 1) / 2,
		"correlation over seeds": alongSeed / n / n * 12, "correlation over positions": alongPos / n / n * 12,
	} {
		if math.Abs(got) > 4.0/n {
			t.Errorf("%s: got a deviation of %g, want about 0", name, got)
		}
	}
}

// TestDrawLarge compares draws from a large vocabulary, with ties, far outliers and more
// likely tokens than a bucket holds, with the full sort.
func TestDrawLarge(t *testing.T) {
	var s sampler
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "weights"), 1))
		logits := make([]float32, rapid.SampledFrom([]int{700, 3001}).Draw(t, "vocab"))
		spread := rapid.SampledFrom([]float32{0, 0.01, 1, 10, 300}).Draw(t, "spread")
		for i := range logits {
			logits[i] = spread * float32(rng.NormFloat64())
			if rng.IntN(3) == 0 { // ties
				logits[i] = spread * float32(rng.IntN(5))
			}
		}
		r := Request{
			Seed: rapid.Uint64().Draw(t, "seed"), Temperature: rapid.SampledFrom([]float32{0.2, 1, 3}).Draw(t, "temperature"),
			TopK: rapid.SampledFrom([]int{0, 1, 40, 650, 5000}).Draw(t, "topK"), TopP: rapid.SampledFrom([]float32{0, 0.01, 0.5, 0.95, 0.9999}).Draw(t, "topP"),
		}
		want, close := truncated(logits, &r)
		if close {
			return
		}
		for pos := range 5 {
			tok, _, sampleLogp, err := s.draw(logits, &r, pos)
			if err != nil {
				t.Fatal(err)
			}
			if p := math.Exp(float64(sampleLogp)); want[tok] == 0 || math.Abs(p-want[tok]) > 1e-4*want[tok]+1e-9 {
				t.Fatalf("token %d: got probability %g, want %g", tok, p, want[tok])
			}
		}
	})
}

// TestDrawOrder wants the inverse of the cumulative distribution, token by token, in
// the documented order: falling logits, then ids; or ids alone where nothing is cut.
func TestDrawOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	logits := make([]float32, 1000)
	for i := range logits {
		logits[i] = float32(rng.IntN(40)) * 0.2
	}
	var s sampler
	for _, r := range []Request{{Temperature: 1}, {Temperature: 0.7, TopK: 300}, {Temperature: 1.5, TopP: 0.6}, {Temperature: 1, TopK: 500, TopP: 0.9}} {
		dist, _ := truncated(logits, &r)
		order := make([]int, len(logits))
		for i := range order {
			order[i] = i
		}
		if r.TopK > 0 || r.TopP > 0 {
			slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(logits[b], logits[a]), cmp.Compare(a, b)) })
		}
		for pos := range 500 {
			u, cum, want := uniform(r.Seed, uint64(pos)), 0.0, 0
			for _, i := range order {
				if want = i; cum+dist[i] > u {
					break
				}
				cum += dist[i]
			}
			if math.Abs(cum-u) < 1e-5 || math.Abs(cum+dist[want]-u) < 1e-5 {
				continue // rounding decides
			}
			if tok, _, _, err := s.draw(logits, &r, pos); err != nil || int(tok) != want {
				t.Fatalf("%+v: draw at %g: got token %d, want %d (%v)", r, u, tok, want, err)
			}
		}
	}
}
