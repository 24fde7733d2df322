package lm

import "github.com/seed-095d5d2b/whale/lm/kernel"

// rowChunk is how many rows one parallel piece of an elementwise pass takes. It
// is a constant because partial sums follow it: results must not depend on the
// number of workers.
const rowChunk = 32

func chunks(rows int) int { return (rows + rowChunk - 1) / rowChunk }

// forRows runs f over the fixed chunks of n rows.
func forRows(p *kernel.Pool, n int, f func(chunk, lo, hi int)) {
	p.For(chunks(n), func(c int) { f(c, c*rowChunk, min((c+1)*rowChunk, n)) })
}

// packing is several sequences' input tokens laid end to end without padding.
// Each is trimmed to what its loss needs: the token before the last target.
type packing struct {
	tokens []int32
	pos    []int32 // position in the token's own sequence
	spans  []span
	// Where the loss is: row rows[i] of the packing predicts targets[i], and
	// minus its log-probability counts weights[i] times.
	rows    []int32
	targets []int32
	weights []float32
	policy  *policyRows // nil if the loss is cross-entropy
}

type span struct{ lo, hi int } // rows of one sequence

func (p *packing) reset() {
	*p = packing{
		p.tokens[:0], p.pos[:0], p.spans[:0],
		p.rows[:0], p.targets[:0], p.weights[:0], p.policy,
	}
	if p.policy != nil {
		p.policy.reset()
	}
}

// inputs is the number of rows that a sequence with these weights needs: all
// tokens before the last one that counts.
func inputs(weights []float32) int {
	for t := len(weights) - 1; t > 0; t-- {
		if weights[t] != 0 {
			return t
		}
	}
	return 0
}

// add appends a sequence of which at least one token counts.
func (p *packing) add(s Sequence) {
	n, lo := inputs(s.Weights), len(p.tokens)
	p.spans = append(p.spans, span{lo, lo + n})
	p.tokens = append(p.tokens, s.Tokens[:n]...)
	for t := range n {
		p.pos = append(p.pos, int32(t))
		if w := s.Weights[t+1]; w != 0 {
			p.rows = append(p.rows, int32(lo+t))
			p.targets = append(p.targets, s.Tokens[t+1])
			p.weights = append(p.weights, w)
		}
	}
}
