package bm25

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	index "github.com/blevesearch/bleve_index_api"
)

// A search of some thousand passages is wanted in microseconds: an episode of a small model takes milliseconds, and most queries are whole questions,
// whose common words occur in nearly every passage. Walking bleve's lists took 1.3 to 2.5 ms for such a query (4,800 passages, two busy cores); with every term's
// scores kept once they were read, it took 0.07 ms on the same machine. So an index in memory keeps them: 12 bytes a posting.

// list is what a term adds to the scores of passages.
type list struct {
	at     []uint32 // positions of passages
	scores []float64
}

// lists keeps the lists of terms that occur. Terms that do not are not kept: queries come from outside.
type lists struct {
	mu        sync.RWMutex
	of        map[string]*list
	positions []uint32 // by bleve's number of the document
}

// newLists looks up every document's position.
func newLists(reader index.IndexReader, passages int) (*lists, error) {
	l := &lists{of: make(map[string]*list), positions: make([]uint32, passages)}
	for doc := range passages {
		id, err := reader.ExternalID(index.NewIndexInternalID(nil, uint64(doc)))
		if err != nil {
			return nil, fmt.Errorf("bm25: %w", err)
		}
		at, err := strconv.Atoi(id)
		if err != nil || at < 0 || at >= passages {
			return nil, fmt.Errorf("bm25: got document %q of %d passages", id, passages)
		}
		l.positions[doc] = uint32(at)
	}
	return l, nil
}

// list gives a term's list.
func (x *Index) list(ctx context.Context, term string) (*list, error) {
	x.lists.mu.RLock()
	l := x.lists.of[term]
	x.lists.mu.RUnlock()
	if l != nil {
		return l, nil
	}
	l, err := x.readList(ctx, term)
	if err != nil || len(l.at) == 0 {
		return l, err
	}
	x.lists.mu.Lock()
	x.lists.of[term] = l
	x.lists.mu.Unlock()
	return l, nil
}

func (x *Index) readList(ctx context.Context, term string) (l *list, err error) {
	p, err := x.postings(ctx, term)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closing := p.close(); err == nil {
			err = closing
		}
	}()
	l = &list{}
	for {
		doc, score, ok, err := p.next()
		if err != nil || !ok {
			return l, err
		}
		l.at = append(l.at, x.lists.positions[doc])
		l.scores = append(l.scores, score)
	}
}

// add sums up the terms' lists, and keeps the best passages.
func (x *Index) add(ctx context.Context, terms []string, times map[string]int, k int) ([]candidate, error) {
	scores := make([]float64, x.size)
	for _, term := range terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := x.list(ctx, term)
		if err != nil {
			return nil, err
		}
		n := float64(times[term])
		for i, at := range l.at {
			scores[at] += n * l.scores[i]
		}
	}
	top := &top{k: k}
	for at, score := range scores {
		if score > 0 {
			if err := top.add(candidate{at: at, score: score}); err != nil {
				return nil, err
			}
		}
	}
	return top.best, nil
}
