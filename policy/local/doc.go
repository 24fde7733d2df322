// Package local is the embedded policy: a [lm.Model] that samples and learns in this process, whether it is the embedded whale-tiny or a
// model of others in a Hugging Face folder, a GGUF file or a PEFT adapter.
//
//	Open, Bundle   a model by name or path: weights, tokenizer, and the chat template that it ships (or that is named for it)
//	Renderer       messages and tools ↔ token ids, by a template of package chat and the model's tokenizer
//	Policy         Renderer plus a batching sampler over frozen weights
//	Trainer        AdamW on a private copy of the weights, or on a low-rank adapter; Publish hands out a Policy over a frozen copy
//	Scorer         Trainer.Scorer: log-probabilities under a snapshot, or under the weights that training began with
//	Memory         what sampling and training take at most
//
// A bundle is read in layers: bundle.go chooses by what a path holds; folder.go, file.go and adapter.go read one kind each; chooseTemplate
// decides how the model is spoken to. [Bundle.Save] and [Trainer.Snapshot] write folders that Open reads again, with the tokenizer and the
// template of the model as they were.
//
// Identities: weights are known by the hash of their tensors, weights with an adapter by those of the base and of the adapter; a renderer by
// template, options, tokenizer and the ids that end a reply.
package local
