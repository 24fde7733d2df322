// Package local is the embedded policy: a [lm.Model] that samples and learns in this process, and the chat template of whale-tiny.
//
//	Bundle    a model folder or the embedded whale-tiny: weights, tokenizer, template
//	Renderer  messages and tools ↔ token ids
//	Policy    Renderer plus a batching sampler over frozen weights
//	Trainer   AdamW on a private copy of the weights; Publish hands out a Policy over a frozen copy
package local
