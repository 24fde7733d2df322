package lm

import (
	"fmt"
	"math"
)

// sampler draws tokens from logits; it holds memory for one draw at a time.
type sampler struct {
	probs  []float32 // unnormalised
	logits []float32 // what the heap is ordered by: exponentials tie where logits do not
	heap   []int32
}

// draw picks a token under the request's temperature, top-k and top-p, in that
// order. It returns the token's log-probability under the full distribution at
// temperature 1, and under the one it was drawn from. pos is the token's position
// in the sequence.
func (s *sampler) draw(logits []float32, r *Request, pos int) (tok int32, logp, sampleLogp float32, err error) {
	probs := grow(&s.probs, len(logits))
	top, sum := expSum(probs, logits)
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
			_, sum = expSum(probs, probs)
		}
		u := uniform(r.Seed, uint64(pos))
		var p float64
		if topK, topP := r.truncation(len(logits)); topK < len(logits) || topP < 1 {
			s.logits = logits
			tok, p = s.drawTop(u, sum, topK, topP)
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
	target, cum := u*sum, 0.0
	for i, q := range s.probs {
		if q == 0 {
			continue
		}
		tok = int32(i) // the last possible one, should rounding keep cum below target
		cum += float64(q)
		if cum > target {
			break
		}
	}
	return tok, float64(s.probs[tok]) / sum
}

// drawTop draws among the topK likeliest tokens (equal ones by id), of these the
// fewest whose share reaches topP. Tokens leave a heap in order, so that only those
// that are kept get sorted.
func (s *sampler) drawTop(u, sum float64, topK int, topP float64) (tok int32, p float64) {
	s.heapify()
	n := len(s.heap)
	if topK < n { // top-p is a share of what top-k leaves
		sum = 0
		for range topK {
			sum += float64(s.probs[s.pop()])
		}
	}
	kept, cum := 0, 0.0
	for kept < topK && (kept == 0 || cum < topP*sum) {
		i := n - 1 - kept // pop leaves the kept, likeliest last, behind the heap
		if len(s.heap) > i {
			s.pop()
		}
		q := s.probs[s.heap[:n][i]]
		if q == 0 && kept > 0 {
			break
		}
		cum += float64(q)
		kept++
	}
	target, run := u*cum, 0.0
	for i := range kept {
		tok = s.heap[:n][n-1-i]
		run += float64(s.probs[tok])
		if run > target {
			break
		}
	}
	return tok, float64(s.probs[tok]) / cum
}

func (s *sampler) heapify() {
	s.heap = s.heap[:0]
	for i := range s.probs {
		s.heap = append(s.heap, int32(i))
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.down(i)
	}
}

// pop takes the likeliest token off the heap and leaves it behind the heap's end.
func (s *sampler) pop() int32 {
	last := len(s.heap) - 1
	tok := s.heap[0]
	s.heap[0], s.heap[last] = s.heap[last], tok
	s.heap = s.heap[:last]
	s.down(0)
	return tok
}

func (s *sampler) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(s.heap) {
			return
		}
		if c+1 < len(s.heap) && s.before(s.heap[c+1], s.heap[c]) {
			c++
		}
		if !s.before(s.heap[c], s.heap[i]) {
			return
		}
		s.heap[i], s.heap[c] = s.heap[c], s.heap[i]
		i = c
	}
}

// before orders tokens by falling probability, then by id.
func (s *sampler) before(a, b int32) bool {
	return s.logits[a] > s.logits[b] || s.logits[a] == s.logits[b] && a < b
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
