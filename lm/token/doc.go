// Package token is a byte-level BPE tokenizer: it turns text into the ids a
// language model reads and back, and learns such a vocabulary from text.
//
// A text becomes ids in three separate stages, each with its own file:
//
//		text ──Split──▶ words ──byte alphabet──▶ byte tokens ──merges──▶ ids
//
//	  - A [Split] (split.go, split_gpt2.go, split_qwen.go) cuts the text into
//	    words. No token crosses a word's edge. The scanners are written by hand
//	    and follow the published patterns of the model families exactly.
//	  - Every byte has a token of its own, so every byte string encodes. In files
//	    the bytes are spelled in GPT-2's printable alphabet (alphabet.go).
//	  - The merge list joins neighbouring tokens, lowest rank first, leftmost
//	    first among equals (merge.go). Results for short words are cached (cache.go).
//
// Special tokens (turn markers and other control tokens) are kept apart from
// both: they have ids and names but no text, [Tokenizer.Encode] never produces
// one, and [Tokenizer.Decode] never shows one. Whoever needs a control token asks
// for its id by name with [Tokenizer.Special], so text from a model, a program or
// a file cannot forge it.
//
// [Train] (train.go) learns the merges; [Tokenizer.WriteJSON] and [ReadJSON]
// (json_*.go) keep a tokenizer in the
// tokenizer.json form of Hugging Face's tokenizers library, which loads our files.
// The reader takes the subset of that form which this package implements
// exactly and refuses everything else by name.
//
// Ids are ordered as in GPT-2: 256 byte tokens in the order of the byte alphabet,
// then one token a merge, then the special tokens.
package token
