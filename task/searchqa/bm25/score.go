package bm25

import (
	"context"
	"math"

	index "github.com/blevesearch/bleve_index_api"
)

// The constants of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009): how fast further occurrences of a term
// count less, and how much longer passages are held back.
const (
	k1 = 1.2
	b  = 0.75
)

// postings are the documents of a term, with what it adds to their scores.
type postings struct {
	reader  index.TermFieldReader
	idf     float64
	average float64
	into    index.TermFieldDoc // reused
}

// postings gives a term's documents in the order of bleve's numbers. Close them.
func (x *Index) postings(ctx context.Context, term string) (*postings, error) {
	r, err := x.reader.TermFieldReader(ctx, []byte(term), fieldText, true, true, false)
	if err != nil {
		return nil, err
	}
	n, with := float64(x.size), float64(r.Count())
	return &postings{reader: r, idf: math.Log(1 + (n-with+0.5)/(with+0.5)), average: x.average}, nil
}

// next gives the next document and the term's score in it; ok is false after the last one.
func (p *postings) next() (doc uint64, score float64, ok bool, err error) {
	d, err := p.reader.Next(&p.into)
	if err != nil || d == nil {
		return 0, 0, false, err
	}
	tf := float64(d.Freq)
	length := math.Round(1 / (d.Norm * d.Norm)) // bleve keeps one over the root, in 32 bits
	return d.ID.Value(), p.idf * tf * (k1 + 1) / (tf + k1*(1-b+b*length/p.average)), true, nil
}

func (p *postings) close() error { return p.reader.Close() }
