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
	count   uint64 // documents
	idf     float64
	average float64
	into    index.TermFieldDoc // reused
	target  index.IndexInternalID
}

// postings gives a term's documents in the order of bleve's numbers. Close them.
func (x *Index) postings(ctx context.Context, term string) (*postings, error) {
	r, err := x.reader.TermFieldReader(ctx, []byte(term), fieldText, true, true, false)
	if err != nil {
		return nil, err
	}
	p := &postings{reader: r, count: r.Count(), average: x.average}
	n, with := float64(x.size), float64(p.count)
	p.idf = math.Log(1 + (n-with+0.5)/(with+0.5))
	return p, nil
}

// bound is what the term's score stays below, however often a document has it.
func (p *postings) bound() float64 { return p.idf * (k1 + 1) }

// next gives the next document and the term's score in it; ok is false after the last one.
func (p *postings) next() (doc uint64, score float64, ok bool, err error) {
	return p.found(p.reader.Next(&p.into))
}

// advance gives the first document that is not before target, which must be after the one given last.
func (p *postings) advance(target uint64) (doc uint64, score float64, ok bool, err error) {
	p.target = index.NewIndexInternalID(p.target, target)
	return p.found(p.reader.Advance(p.target, &p.into))
}

func (p *postings) found(d *index.TermFieldDoc, err error) (doc uint64, score float64, ok bool, _ error) {
	if err != nil || d == nil {
		return 0, 0, false, err
	}
	tf := float64(d.Freq)
	length := math.Round(1 / (d.Norm * d.Norm)) // bleve keeps one over the root, in 32 bits
	return d.ID.Value(), p.idf * tf * (k1 + 1) / (tf + k1*(1-b+b*length/p.average)), true, nil
}

func (p *postings) close() error { return p.reader.Close() }
