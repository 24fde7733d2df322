package local

import "github.com/seed-095d5d2b/whale/lm"

// Memory is what a model needs in memory at most, in bytes, without what the collector of garbage keeps besides.
type Memory struct {
	Weights  int64         `json:"weights_bytes"`   // one copy, in float32
	Token    int64         `json:"token_bytes"`     // keys and values of one token
	Keys     int64         `json:"key_value_bytes"` // of all sequences of a full batch, and those kept
	Sampling int64         `json:"sampling_bytes"`  // weights, keys and values
	Training int64         `json:"training_bytes"`  // by Plan
	Plan     lm.MemoryPlan `json:"training_plan"`
	Longest  int           `json:"training_longest"` // sequence that the plan is for, in tokens
}

// longestPlanned is the sequence that plans are made for, where the context is longer: few conversations fill that of today's models.
const longestPlanned = 4096

// Memory says what sampling under the options and training take. A run that trains holds θ_0 and the published weights besides those in
// training.
func (b *Bundle) Memory(opt Options, how lm.TrainerOptions, workers int) (Memory, error) {
	c := b.Model.Config()
	longest := min(c.MaxSeq, longestPlanned)
	plan, err := lm.PlanMemory(c, how, longest, workers)
	if err != nil {
		return Memory{}, err
	}
	m := Memory{Weights: 4 * int64(b.Model.NumParams()), Token: int64(c.Layers) * 2 * int64(c.KVHeads) * int64(c.HeadDim) * 4, Plan: plan, Training: plan.Total(), Longest: longest}
	limit := opt.MemoryBytes
	if limit <= 0 {
		limit = 1 << 30 // lm.GeneratorOptions' own
	}
	m.Keys = min(limit, m.Token*(int64(opt.MaxBatch)*int64(c.MaxSeq)+int64(opt.CacheTokens)))
	m.Sampling = m.Weights + m.Keys
	return m, nil
}
