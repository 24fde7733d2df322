// Package lm is the embedded language model: a decoder-only transformer of the
// Llama/Qwen family (RMSNorm, rotary positions, grouped-query attention, SwiGLU,
// optional QK-norm and tied embeddings) in float32, that samples and learns in plain
// Go on the kernels of package kernel.
//
// # Tour
//
//   - A [Config] is a shape, in the words of Hugging Face's config.json, of one [Family]
//     (config.go, family.go, hfconfig.go, ropescale.go); a [Model] is the weights (layout.go,
//     model.go). [Load], [Model.Save] and [NewModel] exchange them with the world (load.go,
//     shard.go, files.go, construct.go); [Model.Hash] is their content identity.
//     [ReadGeneration] tells how the makers sample (generation.go).
//   - A [Trainer] learns from [Sequence] values: [Trainer.Accumulate] adds gradients,
//     [Trainer.Step] applies AdamW, [Trainer.WriteState] keeps the optimiser across a
//     restart (trainer.go, adamw.go, state.go). [Trainer.AccumulatePolicy] is for losses of
//     policy gradients (policyloss.go). [TrainerOptions] recomputes activations to save
//     memory, which [PlanMemory] tells before the run. [Model.LogProbs] and
//     [Model.ScoreSequences] score (score.go).
//   - With a [LoRA] the model is frozen and an [Adapter] is trained (lora.go, loramerge.go),
//     exchanged with the world in PEFT's layout (peft.go) and added to a model by
//     [Model.Merge]. [Adapter.Hash] is the identity of base plus delta.
//   - A [Generator] samples for many callers at once: [Generator.Generate]
//     (generator.go). [PlanSampling] says what memory that takes (samplingplan.go).
//
// # How a number is made
//
// Training and scoring lay sequences end to end (packing, pack.go) and run forward.go:
// heads.go cuts the projections into heads and rotates them (rope.go), attention.go
// attends, logits.go meets the vocabulary; backward.go goes back the same way,
// by hand, and leaves weight gradients where gradients.go says. Parameters, gradients and
// moments are flat slices with one layout. The scores of attention exist for one block of
// queries of one head at a time, the logits for a bounded number of rows.
//
// Sampling steps a batch (batch.go): some tokens of each sequence go through all layers
// (decoder.go), sequence by sequence on each worker or, with large weights, all together.
// Keys and values lie in blocks of 16 tokens from one bounded pool, and sequences
// that begin alike share theirs (kvcache.go, path.go, paged.go). Then tokens are drawn
// (sample.go, ranking.go).
//
// # What a number depends on
//
// Kernels compute each row of a product as a function of that row alone, attention is
// per sequence and head in a fixed order, and sums over rows follow fixed chunks. Hence,
// for one kernel variant (on one architecture) and to the bit: a sampled log-probability equals
// [Model.LogProbs]; a completion depends on weights and request alone; a training
// step depends on weights, optimiser state and the sequences in their order, never on
// the number of workers. Tests hold these to equality, not to a tolerance. How near the
// numbers are to those of transformers and PyTorch, testdata/reference.json tells.
package lm
