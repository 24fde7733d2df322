package lm

import "fmt"

// MemoryPlan is what training takes at most, in bytes.
type MemoryPlan struct {
	Weights     int64 // the model's, and with an adapter its factors and the frozen weights under it
	Gradients   int64
	Optimizer   int64 // both moments
	Activations int64 // of one micro-batch, with their gradients
	Logits      int64 // of the rows that meet the vocabulary at once
	Scratch     int64 // of attention and of matrix products
}

// Total adds the parts up.
func (p MemoryPlan) Total() int64 {
	return p.Weights + p.Gradients + p.Optimizer + p.Activations + p.Logits + p.Scratch
}

func (p MemoryPlan) String() string {
	const mib = 1 << 20
	return fmt.Sprintf("%d MiB: weights %d, gradients %d, optimiser %d, activations %d, logits %d, scratch %d",
		p.Total()/mib, p.Weights/mib, p.Gradients/mib, p.Optimizer/mib, p.Activations/mib, p.Logits/mib, p.Scratch/mib)
}

// PlanMemory says what a trainer of a model of config c takes at most, for sequences of up
// to longest tokens and a pool of workers goroutines. What the Go heap holds beyond it for
// the collector's sake is not part of it.
func PlanMemory(c Config, o TrainerOptions, longest, workers int) (MemoryPlan, error) {
	const float = 4
	if err := c.Validate(); err != nil {
		return MemoryPlan{}, err
	}
	if o.MicroBatch == 0 {
		o.MicroBatch = microBatch
	}
	params, trained := int64(c.numParams()), int64(c.numParams())
	weights := params
	width := 0 // of an adapter's factors, all targets of a product together
	if o.LoRA != nil {
		if err := o.LoRA.Validate(); err != nil {
			return MemoryPlan{}, err
		}
		specs := c.adapterLayout(*o.LoRA)
		last := specs[len(specs)-1]
		trained = int64(last.off + last.n)
		weights += trained
		for g := range projectionGroups {
			targets := 0
			for _, t := range loraTargets {
				for _, name := range o.LoRA.Targets {
					if t.group == g && t.name == name {
						targets++
					}
				}
			}
			if out, in := c.groupShape(g); targets > 0 {
				weights += int64(c.Layers) * int64(out) * int64(in)
			}
			width = max(width, targets*o.LoRA.Rank)
		}
	}
	rows := int64(max(o.MicroBatch, longest))
	record := c.recordWidth()
	kept := int64(c.Layers) * record
	if o.Recompute {
		kept = record + int64(c.Layers-1)*int64(c.Dim)
	}
	shared := c.sharedWidth()
	gradient := int64(2*c.Dim + 3*c.FFN + 2*c.qDim() + 2*c.kvDim() + c.qkvDim() + 2*width) // gradScratch, an adapter's products
	normParts := (rows/rowChunk + 1) * int64(max(c.Dim, 2*c.HeadDim+c.qkvDim()))

	head := min(int64(c.headRows()), rows)
	logits := head * int64(c.Vocab+2*c.Dim+2)

	pieces := int64(max(workers, 1))
	attention := pieces * int64(2*queryBlock*longest+2*queryBlock*c.HeadDim)
	largest := 0 // matrix packed for a product, or an adapter's factors
	for g := range projectionGroups {
		out, in := c.groupShape(g)
		largest = max(largest, out*in, out*width*2+width*in)
	}
	largest = max(largest, c.Vocab*c.Dim, int(head)*max(c.Dim, c.Vocab))
	packed := int64(largest) + rows*int64(max(2*c.FFN, c.qkvDim(), c.Dim)) + pieces*1<<16

	return MemoryPlan{
		Weights:     float * (weights + int64(c.MaxSeq)*int64(c.HeadDim)),
		Gradients:   float * trained,
		Optimizer:   2 * float * trained,
		Activations: float * (rows*(kept+shared+gradient) + normParts),
		Logits:      float * logits,
		Scratch:     float * (attention + packed),
	}, nil
}

// recordWidth is the numbers of a row that one layer's record holds.
func (c Config) recordWidth() int64 {
	return int64(2*c.Dim + c.qkvDim() + 2*c.qDim() + 2*c.kvDim() + 2 + 2*c.FFN)
}

// sharedWidth is the numbers of a row that all layers share: final, h, act.
func (c Config) sharedWidth() int64 { return int64(2*c.Dim + c.FFN) }

// PlanScoring says what ScoreSequences takes at most beside the model, in bytes, for
// sequences of up to longest tokens and a pool of workers goroutines.
func PlanScoring(c Config, longest, workers int) (int64, error) {
	p, err := PlanMemory(c, TrainerOptions{}, longest, workers)
	if err != nil {
		return 0, err
	}
	rows := int64(max(microBatch, longest))
	return 4*rows*(2*c.recordWidth()+c.sharedWidth()) + p.Logits + p.Scratch, nil
}
