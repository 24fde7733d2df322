// Package lm is the embedded language model: a decoder-only transformer of the
// Llama/Qwen family (RMSNorm, rotary positions, grouped-query attention, SwiGLU,
// optional QK-norm and tied embeddings) in float32, that samples and learns in plain
// Go on the kernels of package kernel.
//
// # Tour
//
//   - A [Config] is a shape, in the words of Hugging Face's config.json; a [Model] is
//     the weights (config.go, layout.go, model.go). [Load], [Model.Save] and
//     [ReadSafetensors] exchange them with the world (files.go, safetensors.go);
//     [Model.Hash] is their content identity.
//   - A [Trainer] learns from [Sequence] values: [Trainer.Accumulate] adds gradients,
//     [Trainer.Step] applies AdamW, [Trainer.WriteState] keeps the optimiser across a
//     restart (trainer.go, adamw.go, state.go). [Model.LogProbs] scores.
//   - A [Generator] samples for many callers at once: [Generator.Generate]
//     (generator.go).
//
// # How a number is made
//
// Training and scoring lay sequences end to end (packing, pack.go) and run forward.go:
// heads.go cuts the projections into heads and rotates them (rope.go), attention.go
// attends, logits.go meets the vocabulary; backward.go goes back the same way,
// by hand. Parameters, gradients and moments are flat slices with one layout.
//
// Sampling steps a batch (batch.go) of which each worker takes whole sequences through
// all layers (decoder.go), with keys and values kept in kvcache.go, and draws
// tokens (sample.go).
//
// # What a number depends on
//
// Kernels compute each row of a product as a function of that row alone, attention is
// per sequence and head in a fixed order, and sums over rows follow fixed chunks. Hence,
// for one kernel variant (on one architecture) and to the bit: a sampled log-probability equals
// [Model.LogProbs]; a completion depends on weights and request alone; a training
// step depends on weights, optimiser state and the sequences in their order, never on
// the number of workers. Tests hold these to equality, not to a tolerance.
package lm
