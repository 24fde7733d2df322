package lm

import "fmt"

// SamplingPlan is what sampling takes at most, in bytes.
type SamplingPlan struct {
	Weights    int64 // the model's, with its table of rotary angles
	Snapshot   int64 // the generator's own copy of the weights, laid out for products
	KeysValues int64 // of requests under way and kept for later ones
	Scratch    int64 // of one step: activations, attention, logits
}

// Total adds the parts up.
func (p SamplingPlan) Total() int64 { return p.Weights + p.Snapshot + p.KeysValues + p.Scratch }

func (p SamplingPlan) String() string {
	const mib = 1 << 20
	return fmt.Sprintf("%d MiB: weights %d, the generator's copy %d, keys and values %d, scratch %d",
		p.Total()/mib, p.Weights/mib, p.Snapshot/mib, p.KeysValues/mib, p.Scratch/mib)
}

// PlanSampling says what a generator over a model of config c takes at most, the model
// included, for sequences of up to longest tokens (prompt and completion) and a pool of
// workers goroutines. What the Go heap holds beyond it for the collector's sake is not
// part of it.
func PlanSampling(c Config, o GeneratorOptions, longest, workers int) (SamplingPlan, error) {
	const float = 4
	if err := c.Validate(); err != nil {
		return SamplingPlan{}, err
	}
	if longest < 1 || longest > c.MaxSeq {
		return SamplingPlan{}, fmt.Errorf("sampling plan: longest: got %d tokens, want 1 to %d", longest, c.MaxSeq)
	}
	o.MaxBatch, workers = o.batch(), max(workers, 1)
	limit := o.blocks(c)
	kept := min(max(o.CacheTokens, 0)/blockTokens, limit)
	blocks := min(limit, o.MaxBatch*blocksOf(longest)+kept)

	// Rows of one step: a token of each sequence, and pieces of prompts, which fall unevenly
	// to the shares.
	rows := int64(o.MaxBatch + promptRows + (workers-1)*promptChunk)
	activations := rows * int64(2*c.Dim+c.qkvDim()+c.qDim()+3*c.FFN)
	logits := int64(min(o.MaxBatch, int(rows)))*int64(c.Vocab) + int64(workers*c.Vocab)*3/2
	room := blocksOf(longest) * blockTokens
	queries := min(promptChunk, longest) * c.group()
	attention := int64(workers) * int64(queries*(2*c.HeadDim+room)+4*room*c.HeadDim)

	snapshot := c.numParams()
	if c.TieEmbeddings { // the table is there to be looked up in, and packed
		snapshot += int64(c.Vocab * c.Dim)
	}
	return SamplingPlan{
		Weights:    float * (c.numParams() + c.rotaryFloats()),
		Snapshot:   float * snapshot,
		KeysValues: int64(blocks) * (c.pageBytes() + blockBooks),
		Scratch:    float * (activations + logits + attention),
	}, nil
}

// blockBooks is about what the tree and the lists hold for a block.
const blockBooks = 512

// rotaryFloats is the size of the table of angles.
func (c Config) rotaryFloats() int64 { return int64(c.MaxSeq) * int64(c.HeadDim) }
