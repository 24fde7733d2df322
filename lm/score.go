package lm

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// LogProbs returns log p(tokens[t] | tokens[:t]) in nats for every t, by the forward
// pass that training uses; the first is 0. p may be nil. At most MaxSeq tokens.
func (m *Model) LogProbs(p *kernel.Pool, tokens []int32) ([]float32, error) {
	if len(tokens) > m.cfg.MaxSeq {
		return nil, fmt.Errorf("log-probabilities: tokens: got %d, want at most %d", len(tokens), m.cfg.MaxSeq)
	}
	if err := m.checkTokens("log-probabilities", tokens); err != nil {
		return nil, err
	}
	ones := make([]float32, len(tokens))
	for i := 1; i < len(ones); i++ {
		ones[i] = 1
	}
	out, err := m.ScoreSequences(context.Background(), p, []Sequence{{tokens, ones}})
	if err != nil { // only an invalid sequence is one
		return nil, err
	}
	return out[0], nil
}

// ScoreSequences returns log p(tokens[t] | tokens[:t]) in nats for every token of every
// sequence whose weight is not 0, and 0 for the others. A number depends on its own
// sequence alone, and is the one that training computes. p may be nil. The model must not
// change meanwhile; any number of goroutines may score it.
func (m *Model) ScoreSequences(ctx context.Context, p *kernel.Pool, seqs []Sequence) ([][]float32, error) {
	s := scorer{m: m, p: p, tape: newTape(m.cfg, keepNone)}
	return s.all(ctx, seqs)
}

// scorer is the memory of a scoring.
type scorer struct {
	m    *Model
	p    *kernel.Pool
	tape *tape
	pack packing
	head headScratch
}

// all scores sequences, a micro-batch of them at a time.
func (s *scorer) all(ctx context.Context, seqs []Sequence) ([][]float32, error) {
	out := make([][]float32, len(seqs))
	for i, q := range seqs {
		if err := s.m.checkSequence(q); err != nil {
			return nil, fmt.Errorf("score: sequence %d: %w", i, err)
		}
		out[i] = make([]float32, len(q.Tokens))
	}
	defer s.p.Work().End()
	for next := 0; next < len(seqs); {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("score: %w", err)
		}
		s.pack.reset()
		from := next
		for ; next < len(seqs); next++ {
			n := inputs(seqs[next].Weights)
			if len(s.pack.tokens) > 0 && len(s.pack.tokens)+n > microBatch {
				break
			}
			if n > 0 {
				s.pack.add(seqs[next])
			}
		}
		s.score(seqs[from:next], out[from:next])
	}
	return out, nil
}

// score fills out from a packing of the sequences.
func (s *scorer) score(seqs []Sequence, out [][]float32) {
	if len(s.pack.rows) == 0 {
		return
	}
	s.m.forward(s.p, &s.pack, s.tape)
	var logp []float32
	for i0 := 0; i0 < len(s.pack.rows); i0 += s.m.cfg.headRows() {
		i1 := min(i0+s.m.cfg.headRows(), len(s.pack.rows))
		s.m.head(s.p, &s.pack, i0, i1, s.tape.final, &s.head, false)
		logp = append(logp, s.head.logp...)
	}
	for i, q := range seqs {
		for t, w := range q.Weights {
			if w != 0 {
				out[i][t], logp = logp[0], logp[1:]
			}
		}
	}
}
