// Package export writes what a run made as a folder that others can use: the weights in a common format, the harness, and a model card that says
// how both came about.
//
//	run directory ──recipe.ReadStory──▶ Story ──Moment──▶ weights, harness
//	                                                        │
//	           hf.go, peft.go, llamacpp.go ◀── Format ──────┤
//	           card.go ◀── the story's numbers ─────────────┘
//	                     ──▶ temporary folder ──rename──▶ the export
//
// A [Format] is Hugging Face's folder, PEFT's adapter folder, or a GGUF file. The run directory is only read, also while the run goes on. It is
// outside input: what it says of weights and harness is compared with their content hashes, and all text of it is put into the card as data.
package export
