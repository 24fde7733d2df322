package lm

import (
	"fmt"
	"math"
	"sync"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// sampler draws tokens from logits; it holds memory for one draw at a time.
type sampler struct {
	probs []float32 // unnormalised
	rank  ranking
}

// samplerList hands samplers to whichever goroutine draws next.
type samplerList struct {
	mu   sync.Mutex
	free []*sampler
}

func (l *samplerList) take() *sampler {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		s := l.free[n-1]
		l.free = l.free[:n-1]
		return s
	}
	return &sampler{}
}

func (l *samplerList) put(s *sampler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, s)
}

// draw picks a token under the request's temperature, top-k and top-p, in that
// order. It returns the token's log-probability under the full distribution at
// temperature 1, and under the one it was drawn from. pos is the token's position
// in the sequence.
func (s *sampler) draw(logits []float32, r *Request, pos int) (tok int32, logp, sampleLogp float32, err error) {
	probs := grow(&s.probs, len(logits))
	top, sum := kernel.ExpSum(probs, logits)
	if !(sum >= 1) || !finite(sum) { // the top one's own term is 1
		return 0, 0, 0, fmt.Errorf("logits at position %d: got a sum of exponentials of %g, want a finite number", pos, sum)
	}
	full := math.Log(sum)
	switch {
	case r.Temperature == 0:
		for tok = 0; logits[tok] != top; tok++ {
		}
	default:
		if r.Temperature != 1 {
			for i, x := range logits {
				probs[i] = (x - top) / r.Temperature // at most 0; far below may be -Inf
			}
			_, sum = kernel.ExpSum(probs, probs)
		}
		u := uniform(r.Seed, uint64(pos))
		var p float64
		if topK, topP := r.truncation(len(logits)); topK < len(logits) || topP < 1 {
			s.rank.sort(logits, probs, top, r.Temperature)
			tok, p = s.rank.draw(u, sum, topK, topP)
		} else {
			tok, p = s.drawAll(u, sum)
		}
		sampleLogp = float32(math.Log(p))
	}
	return tok, float32(float64(logits[tok]-top) - full), sampleLogp, nil
}

// truncation resolves top-k and top-p, where 0 means off.
func (r *Request) truncation(vocab int) (topK int, topP float64) {
	topK, topP = r.TopK, float64(r.TopP)
	if topK == 0 || topK > vocab {
		topK = vocab
	}
	if topP == 0 {
		topP = 1
	}
	return topK, topP
}

// drawAll inverts the cumulative distribution at u, in order of ids.
func (s *sampler) drawAll(u, sum float64) (tok int32, p float64) {
	const piece = 256 // tokens that are passed over at once
	target, cum := u*sum, 0.0
	from := 0
	for from+piece < len(s.probs) {
		next := cum + sum64(s.probs[from:from+piece])
		if next > target {
			break
		}
		cum = next
		from += piece
	}
	at := -1
	for i, q := range s.probs[from:] {
		if q == 0 {
			continue
		}
		at = from + i
		if cum += float64(q); cum > target {
			break
		}
	}
	if at < 0 { // rounding kept cum below target: the last possible token, of which there is one
		for at = from - 1; s.probs[at] == 0; at-- {
		}
	}
	return int32(at), float64(s.probs[at]) / sum
}

// sum64 adds up in four chains, for the adder's latency.
func sum64(xs []float32) float64 {
	var s0, s1, s2, s3 float64
	for ; len(xs) >= 4; xs = xs[4:] {
		s0 += float64(xs[0])
		s1 += float64(xs[1])
		s2 += float64(xs[2])
		s3 += float64(xs[3])
	}
	for _, x := range xs {
		s0 += float64(x)
	}
	return s0 + s1 + s2 + s3
}

// uniform is a draw from [0, 1) that depends on its key alone: SplitMix64's
// finaliser (Steele, Lea and Flood, 2014) applied to each half of the key.
func uniform(seed, pos uint64) float64 {
	return float64(mix(mix(seed+0x9e3779b97f4a7c15)+(pos+1)*0xd1342543de82ef95)>>11) * 0x1p-53
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
