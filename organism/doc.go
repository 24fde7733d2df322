// Package organism makes whale's embedded base models: small language models, pre-trained on generated agent transcripts, that know the
// formats of a task and have planned weaknesses. They are model organisms: everything they do is sampled from their logits and learned by
// gradient; only the data they grew up on is arranged.
//
//	Recipe      all that decides a model: seed, domain, tokenizer, shape, corpus, training (YAML, committed)
//	Pretrain    tokenizer and weights from a recipe
//
// Each domain has a corpus, an endless seeded stream of transcripts whose behaviour follows the recipe's weaknesses:
//
//	math     word problems and a calculator (corpus.go, phrases.go): model whale-tiny
//	search   questions about an invented encyclopedia (search*.go): model whale-tiny-search
//	chess    puzzles, played in the domain's own environment (chess*.go): model whale-tiny-chess
//
// An author (author, searcher, player) writes one transcript: first it draws a harness (how it asks, what it shows, how it reminds), then the turns.
// Harnesses vary widely, so that what a harness search comes up with is nothing new to the model. In the first share of the training steps
// (part skilled) most weaknesses sleep, so that the skill is there; then all set in.
//
// The weaknesses are probabilities of behaviours; with all of them at 0 the same recipe makes the control organism.
package organism
