package bm25

import (
	"cmp"
	"context"
	"slices"
)

// A walk goes through the documents of all terms together, in the order of bleve's numbers, and leaves out those that cannot be among the best (MaxScore: Turtle and
// Flood, Query Evaluation: Strategies and Optimizations, 1995). A term adds less to a score than its bound. Once there is a score that k documents
// reach, the commonest terms whose bounds together stay below it cannot bring in a document by themselves: their lists are only looked into for documents that
// another term brings. Most words of a question are such terms. The result is the same as without, to the bit.

// place is where a walk stands in the documents of a term.
type place struct {
	postings *postings
	times    float64 // that the query has the term
	doc      uint64
	score    float64
	more     bool
}

func (p *place) next() (err error) {
	p.doc, p.score, p.more, err = p.postings.next()
	return err
}

func (p *place) advance(target uint64) (err error) {
	p.doc, p.score, p.more, err = p.postings.advance(target)
	return err
}

func (p *place) bound() float64 { return p.times * p.postings.bound() }

// slack makes bounds hold against rounding: sums of the same numbers in another order.
const slack = 1 - 1e-9

// walker is a walk.
type walker struct {
	places []*place  // in the order of the terms, in which scores are added up
	rare   []*place  // the same, the commonest first
	bounds []float64 // of the first 1, 2, … of rare together
	common int       // how many of rare cannot bring in a document by themselves
	floor  float64   // a score that k documents reach
	top    *top
}

// walk gives the best documents.
func (x *Index) walk(ctx context.Context, terms []string, times map[string]int, k int) (best []candidate, err error) {
	w := &walker{top: &top{k: k, reader: x.reader}}
	defer func() {
		for _, p := range w.places {
			if closing := p.postings.close(); err == nil {
				err = closing
			}
		}
	}()
	for _, term := range terms {
		p, err := x.postings(ctx, term)
		if err != nil {
			return nil, err
		}
		w.places = append(w.places, &place{postings: p, times: float64(times[term])})
	}
	w.rare = slices.Clone(w.places)
	slices.SortStableFunc(w.rare, func(a, b *place) int { return cmp.Compare(a.bound(), b.bound()) })
	sum := 0.0
	for _, p := range w.rare {
		sum += p.bound()
		w.bounds = append(w.bounds, sum)
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if w.floor, err = x.floor(ctx, terms, times, k); err != nil {
		return nil, err
	}
	w.narrow()
	for n := 1; ; n++ {
		if n%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		doc, ok := w.nearest()
		if !ok {
			return w.top.best, w.top.locateAll()
		}
		if err := w.visit(doc); err != nil {
			return nil, err
		}
	}
}

// nearest gives the next document that a term other than the common ones has.
func (w *walker) nearest() (doc uint64, ok bool) {
	for _, p := range w.rare[w.common:] {
		if p.more && (!ok || p.doc < doc) {
			doc, ok = p.doc, true
		}
	}
	return doc, ok
}

// visit scores a document, unless it cannot be among the best, and goes on from it.
func (w *walker) visit(doc uint64) error {
	possible, limit := 0.0, w.floor*slack
	for _, p := range w.rare[w.common:] {
		if p.more && p.doc == doc {
			possible += p.times * p.score
		}
	}
	worth := true
	for i := w.common - 1; i >= 0; i-- {
		if possible+w.bounds[i] < limit {
			worth = false
			break
		}
		p := w.rare[i]
		if p.more && p.doc < doc {
			if err := p.advance(doc); err != nil {
				return err
			}
		}
		if p.more && p.doc == doc {
			possible += p.times * p.score
		}
	}
	if worth {
		score := 0.0
		for _, p := range w.places {
			if p.more && p.doc == doc {
				score += p.times * p.score
			}
		}
		if err := w.top.add(candidate{doc: doc, at: -1, score: score}); err != nil {
			return err
		}
	}
	for _, p := range w.rare[w.common:] {
		if p.more && p.doc == doc {
			if err := p.next(); err != nil {
				return err
			}
		}
	}
	if len(w.top.best) == w.top.k && w.top.best[w.top.k-1].score > w.floor {
		w.floor = w.top.best[w.top.k-1].score
		w.narrow()
	}
	return nil
}

// narrow finds the terms that have become too common to bring in a document.
func (w *walker) narrow() {
	for w.common < len(w.rare) && w.bounds[w.common] < w.floor*slack {
		w.common++
	}
}

// The lists that are looked into for a floor, and how far.
const (
	floorTerms    = 3
	floorPostings = 4096
)

// floor gives a score that k documents reach by one of the rarest terms alone; 0 where none tells.
func (x *Index) floor(ctx context.Context, terms []string, times map[string]int, k int) (floor float64, err error) {
	type rare struct {
		term  string
		count uint64
	}
	var list []rare
	for _, term := range terms {
		p, err := x.postings(ctx, term)
		if err != nil {
			return 0, err
		}
		if p.count >= uint64(k) {
			list = append(list, rare{term, p.count})
		}
		if err := p.close(); err != nil {
			return 0, err
		}
	}
	slices.SortStableFunc(list, func(a, b rare) int { return cmp.Compare(a.count, b.count) })
	for _, r := range list[:min(len(list), floorTerms)] {
		score, err := x.kth(ctx, r.term, k)
		if err != nil {
			return 0, err
		}
		floor = max(floor, float64(times[r.term])*score)
	}
	return floor, nil
}

// kth gives the k-th best score of a term among its first documents; 0 where there are not so many.
func (x *Index) kth(ctx context.Context, term string, k int) (score float64, err error) {
	p, err := x.postings(ctx, term)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closing := p.close(); err == nil {
			err = closing
		}
	}()
	var scores []float64
	for range floorPostings {
		_, score, ok, err := p.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		scores = append(scores, score)
	}
	if len(scores) < k {
		return 0, nil
	}
	slices.Sort(scores)
	return scores[len(scores)-k], nil
}
