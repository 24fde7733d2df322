package lm

import (
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
	out := make([]float32, len(tokens))
	if len(tokens) < 2 {
		return out, nil
	}
	defer p.Work().End()
	ones := make([]float32, len(tokens))
	for i := 1; i < len(ones); i++ {
		ones[i] = 1
	}
	var pk packing
	pk.add(Sequence{tokens, ones})
	t := newTape(m.cfg, keepNone)
	m.forward(p, &pk, t)
	var h headScratch
	for i0 := 0; i0 < len(pk.rows); i0 += m.cfg.headRows() {
		i1 := min(i0+m.cfg.headRows(), len(pk.rows))
		m.head(p, &pk, i0, i1, t.final, &h, false)
		copy(out[i0+1:i1+1], h.logp)
	}
	return out, nil
}
