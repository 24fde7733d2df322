package local

import "github.com/seed-095d5d2b/whale/lm"

// Memory is what a model needs in memory at most, in bytes, without what the collector of garbage keeps besides.
type Memory struct {
	Weights  int64         `json:"weights_bytes"`   // one copy, in float32
	Token    int64         `json:"token_bytes"`     // keys and values of one token
	Keys     int64         `json:"key_value_bytes"` // of all sequences of a full batch, and those kept
	Sampling int64         `json:"sampling_bytes"`  // weights, the sampler's own copy of them, keys and values, scratch
	Training int64         `json:"training_bytes"`  // by Plan
	Plan     lm.MemoryPlan `json:"training_plan"`
	Scoring  int64         `json:"scoring_bytes,omitempty"` // weights of a scorer, and scratch; 0 where nothing is scored
	Longest  int           `json:"longest"`                 // sequence that the plans are for, in tokens
	Trained  int64         `json:"trained_parameters"`
}

// Run is what a run takes at most that samples, trains, and scores if it does: all of it, and the weights that it started from.
func (m Memory) Run() int64 { return m.Sampling + m.Training + m.Scoring + m.Weights }

// WithScorer adds a scorer.
func (m Memory) WithScorer(b *Bundle, workers int) (Memory, error) {
	scoring, err := lm.PlanScoring(b.Model.Config(), m.Longest, workers)
	m.Scoring = m.Weights + scoring
	return m, err
}

// longestPlanned is the sequence that plans are made for, where the context is longer: few conversations fill that of today's models.
const longestPlanned = 4096

// Memory says what sampling under the options and training take, for sequences of up to the context or 4,096 tokens.
func (b *Bundle) Memory(opt Options, how lm.TrainerOptions, workers int) (Memory, error) {
	c := b.Model.Config()
	longest := min(c.MaxSeq, longestPlanned)
	training, err := lm.PlanMemory(c, how, longest, workers)
	if err != nil {
		return Memory{}, err
	}
	sampling, err := lm.PlanSampling(c, opt.generator(), longest, workers)
	if err != nil {
		return Memory{}, err
	}
	return Memory{
		Weights: 4 * int64(b.Model.NumParams()), Token: int64(c.Layers) * 2 * int64(c.KVHeads) * int64(c.HeadDim) * 4,
		Keys: sampling.KeysValues, Sampling: sampling.Total(), Plan: training, Training: training.Total(), Longest: longest,
		Trained: training.Optimizer / 8, // two moments of float32 each
	}, nil
}
