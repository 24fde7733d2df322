package bm25

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// Index finds passages. It is safe for many goroutines at once, and does not change.
type Index struct {
	id       whale.ID
	analyzer analysis.Analyzer
	size     int
	average  float64 // terms of a passage
	scorch   index.Index
	reader   index.IndexReader
	queue    *index.AnalysisQueue
	passages []corpus.Passage // of an index in memory; one on disk stores them
	lists    *lists           // the same
}

// scorchName is the name of bleve's index layer, for its own use.
const scorchName = scorch.Name

// New makes an index in memory.
func New(ctx context.Context, passages []corpus.Passage, analyzer string) (*Index, error) {
	a, err := analyzerOf(analyzer)
	if err != nil {
		return nil, err
	}
	if len(passages) == 0 {
		return nil, errors.New("bm25: got no passages")
	}
	hash := newHasher(analyzer)
	batch := index.NewBatch()
	counted := &counter{Analyzer: a}
	for at, p := range passages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.Validate(); err != nil {
			return nil, fmt.Errorf("bm25: passage %d: %w", at+1, err)
		}
		hash.add(p)
		batch.Update(newDocument(at, p, counted, false)) // one batch, hence one segment and nothing to merge
	}
	x := &Index{id: hash.id(), analyzer: a, size: len(passages), passages: passages}
	if err := x.open(map[string]any{"path": ""}, batch); err != nil {
		return nil, err
	}
	x.average = float64(counted.n) / float64(len(passages)) // bleve has analysed everything, in one goroutine
	if x.lists, err = newLists(x.reader, len(passages)); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// open starts bleve's side of the index.
func (x *Index) open(config map[string]any, batch *index.Batch) (err error) {
	x.queue = index.NewAnalysisQueue(1)
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	s, err := scorch.NewScorch(scorchName, config, x.queue)
	if err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	if err := s.Open(); err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	x.scorch = s
	if batch != nil {
		if err := s.Batch(batch); err != nil {
			return fmt.Errorf("bm25: %w", err)
		}
	}
	if x.reader, err = s.Reader(); err != nil {
		return fmt.Errorf("bm25: %w", err)
	}
	return nil
}

// ID is the hash of the passages, in their order, and of the analyzer.
func (x *Index) ID() whale.ID { return x.id }

// Len is the number of passages.
func (x *Index) Len() int { return x.size }

// Close frees what the index holds. No search may be under way or come later.
func (x *Index) Close() error {
	var errs []error
	if x.reader != nil {
		errs = append(errs, x.reader.Close())
	}
	if x.scorch != nil {
		errs = append(errs, x.scorch.Close())
	}
	if x.queue != nil {
		x.queue.Close()
	}
	x.reader, x.scorch, x.queue = nil, nil, nil
	return errors.Join(errs...)
}

// passage gives the passage at a position.
func (x *Index) passage(at int) (corpus.Passage, error) {
	if x.passages != nil {
		return x.passages[at], nil
	}
	d, err := x.reader.Document(strconv.Itoa(at))
	if err != nil {
		return corpus.Passage{}, err
	}
	if d == nil {
		return corpus.Passage{}, fmt.Errorf("got no stored passage %d", at)
	}
	var p corpus.Passage
	d.VisitFields(func(f index.Field) {
		switch value := string(f.Value()); f.Name() {
		case fieldID:
			p.ID = value
		case fieldTitle:
			p.Title = value
		case fieldBody:
			p.Text = value
		}
	})
	return p, nil
}
