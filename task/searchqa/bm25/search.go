package bm25

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	index "github.com/blevesearch/bleve_index_api"

	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// MaxHits bounds how many passages a search gives.
const MaxHits = 1000

// Search gives the k best passages of a query, best first; fewer where fewer share a term with it.
func (x *Index) Search(ctx context.Context, query string, k int) ([]corpus.Hit, error) {
	if k < 1 || k > MaxHits {
		return nil, fmt.Errorf("bm25: got %d passages asked for, want 1 to %d", k, MaxHits)
	}
	list, times := terms(x.analyzer, query)
	collect := x.walk
	if x.lists != nil {
		collect = x.add
	}
	best, err := collect(ctx, list, times, k)
	if err != nil {
		return nil, fmt.Errorf("bm25: search: %w", err)
	}
	hits := make([]corpus.Hit, len(best))
	for i, c := range best {
		p, err := x.passage(c.at)
		if err != nil {
			return nil, fmt.Errorf("bm25: search: %w", err)
		}
		hits[i] = corpus.Hit{Passage: p, Score: c.score}
	}
	return hits, nil
}

// candidate is a document with its score. Its position is looked up when it is needed.
type candidate struct {
	doc   uint64 // bleve's number, which says nothing
	at    int    // position among the passages; -1 = not looked up
	score float64
}

// top keeps the k best candidates, best first.
type top struct {
	k      int
	reader index.IndexReader
	best   []candidate
}

// add takes a candidate in where it belongs. Equal scores go by position.
func (t *top) add(c candidate) error {
	if len(t.best) == t.k && c.score < t.best[t.k-1].score {
		return nil
	}
	at := len(t.best)
	for at > 0 && t.best[at-1].score < c.score {
		at--
	}
	for at > 0 && t.best[at-1].score == c.score {
		if err := t.locate(&c); err != nil {
			return err
		}
		if err := t.locate(&t.best[at-1]); err != nil {
			return err
		}
		if t.best[at-1].at < c.at {
			break
		}
		at--
	}
	if at == t.k {
		return nil
	}
	if len(t.best) == t.k {
		t.best = t.best[:t.k-1]
	}
	t.best = slices.Insert(t.best, at, c)
	return nil
}

func (t *top) locate(c *candidate) error {
	if c.at >= 0 {
		return nil
	}
	id, err := t.reader.ExternalID(index.NewIndexInternalID(nil, c.doc))
	if err != nil {
		return err
	}
	c.at, err = strconv.Atoi(id)
	return err
}

func (t *top) locateAll() error {
	for i := range t.best {
		if err := t.locate(&t.best[i]); err != nil {
			return err
		}
	}
	return nil
}
