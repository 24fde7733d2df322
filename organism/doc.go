// Package organism makes whale's embedded base models: small language models, pre-trained on generated agent transcripts, that know the
// formats of a task and have planned weaknesses. They are model organisms: everything they do is sampled from their logits and learned by
// gradient; only the data they grew up on is arranged.
//
//	Recipe      all that decides a model: seed, tokenizer, shape, corpus, training (YAML, committed)
//	Corpus      an endless seeded stream of transcripts with their weaknesses
//	Pretrain    tokenizer and weights from a recipe
//
// The recipe's weaknesses are probabilities of behaviours; with all of them at 0 the same recipe makes the control organism.
package organism
