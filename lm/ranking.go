package lm

import "slices"

// ranking orders tokens by falling logit, equal ones by id, as far as a draw needs: a
// pass over the vocabulary deals them to buckets of like logits, and only a bucket in
// which a cut or the draw falls is sorted. (A heap over 49,152 tokens took longer than
// the model's share of a step.)
type ranking struct {
	logits, probs []float32
	bucket        []uint16 // of each token
	mass          [buckets]float64
	count         [buckets]int
	ids           []int32 // of bucket current, in order
	current       int
}

const (
	buckets       = 1024
	bucketsPerNat = 32 // at least; the last bucket takes what is much less likely than the top
)

// sort deals the tokens. probs are e^((logit-top)/temperature).
func (r *ranking) sort(logits, probs []float32, top, temperature float32) {
	r.logits, r.probs, r.current = logits, probs, -1
	r.mass, r.count = [buckets]float64{}, [buckets]int{}
	if cap(r.bucket) < len(logits) {
		r.bucket = make([]uint16, len(logits))
	}
	r.bucket = r.bucket[:len(logits)]
	low := top
	for _, l := range logits {
		low = min(low, l)
	}
	// Where the likelihoods lie close together, buckets are narrower; never infinitely so.
	scale := min(max(bucketsPerNat/temperature, (buckets-1)/(top-low)), 1e30)
	for i, l := range logits {
		b := buckets - 1
		if at := (top - l) * scale; at < buckets-1 {
			b = int(at)
		}
		r.bucket[i] = uint16(b)
		r.mass[b] += float64(probs[i])
		r.count[b]++
	}
}

// sorted returns the ids of bucket b in order. They are good until the next call.
func (r *ranking) sorted(b int) []int32 {
	if b == r.current {
		return r.ids
	}
	r.ids, r.current = r.ids[:0], b
	for i, at := range r.bucket {
		if int(at) == b {
			r.ids = append(r.ids, int32(i))
		}
	}
	slices.SortFunc(r.ids, func(x, y int32) int {
		switch lx, ly := r.logits[x], r.logits[y]; {
		case lx > ly:
			return -1
		case lx < ly:
			return 1
		}
		return int(x - y)
	})
	return r.ids
}

// cut is a set of likeliest tokens: all of the buckets before one, and the first of
// that one.
type cut struct {
	bucket, first int
	mass          float64
}

// best is the cut of the n likeliest.
func (r *ranking) best(n int) cut {
	c := cut{}
	for ; c.bucket < buckets && n >= r.count[c.bucket]; c.bucket++ {
		n -= r.count[c.bucket]
		c.mass += r.mass[c.bucket]
	}
	if n > 0 && c.bucket < buckets {
		for _, id := range r.sorted(c.bucket)[:n] {
			c.mass += float64(r.probs[id])
		}
		c.first = n
	}
	return c
}

// reach is the least cut within most whose mass reaches want; at least one token.
func (r *ranking) reach(want float64, most cut) cut {
	c := cut{}
	for c.bucket < most.bucket && (r.count[c.bucket] == 0 || c.mass+r.mass[c.bucket] < want) {
		c.mass += r.mass[c.bucket]
		c.bucket++
	}
	n := most.first
	if c.bucket < most.bucket {
		n = r.count[c.bucket]
	}
	if n == 0 {
		return most
	}
	for _, id := range r.sorted(c.bucket)[:n] {
		if c.mass >= want && (c.mass > 0 || c.first > 0) {
			break
		}
		c.mass += float64(r.probs[id])
		c.first++
	}
	return c
}

// draw inverts at u the cumulative distribution of the topK likeliest tokens, and of
// these of the fewest whose share reaches topP. sum is the mass of all.
func (r *ranking) draw(u, sum float64, topK int, topP float64) (tok int32, p float64) {
	kept := cut{bucket: buckets, mass: sum}
	if topK < len(r.logits) {
		kept = r.best(topK)
	}
	if topP < 1 {
		kept = r.reach(topP*kept.mass, kept)
	}
	target, run := u*kept.mass, 0.0
	last, before := 0, 0.0 // the last possible bucket, should rounding keep run below target
	for b := range min(kept.bucket+1, buckets) {
		mass := r.mass[b]
		if b == kept.bucket {
			mass = kept.mass - run
		}
		if r.count[b] == 0 || mass <= 0 || b == kept.bucket && kept.first == 0 {
			continue
		}
		last, before = b, run
		if run += mass; run > target {
			break
		}
	}
	ids := r.sorted(last)
	if last == kept.bucket {
		ids = ids[:kept.first]
	}
	for _, id := range ids {
		if r.probs[id] == 0 {
			break
		}
		tok = id
		if before += float64(r.probs[id]); before > target {
			break
		}
	}
	return tok, float64(r.probs[tok]) / kept.mass
}
