// Package token is a byte-level BPE tokenizer: it turns text into the ids a
// language model reads and back, and learns such a vocabulary from text.
//
// A text becomes ids in stages, each with its own file:
//
//		text ──added tokens──▶ ──NFC──▶ ──Split──▶ words ──byte alphabet──▶ byte tokens ──merges──▶ ids
//
//	  - Added tokens ([Added], added.go) are found in the text itself. Those of Qwen's
//	    models that are not special, like <think>, are ordinary vocabulary.
//	  - Some tokenizers normalise what lies between to NFC (nfc.go).
//	  - A [Split] (split.go, split_gpt2.go, split_qwen.go, split_llama3.go) cuts it into
//	    words. No token crosses a word's edge. The scanners are written by hand
//	    and follow the published patterns of the model families exactly, with the
//	    character classes of one Unicode version (unicode16.go).
//	  - Every byte has a token of its own, so every byte string encodes (but see
//	    [Tokenizer.MissingBytes]). In files the bytes are spelled in GPT-2's
//	    printable alphabet (alphabet.go).
//	  - The merge list joins neighbouring tokens, lowest rank first, leftmost
//	    first among equals (merge.go). Results for short words are cached (cache.go).
//
// # Special tokens
//
// Special tokens (turn markers and other control tokens) are kept apart from text:
// they have ids and names but no bytes, [Tokenizer.EncodeText] never produces
// one, and [Tokenizer.Decode] never shows one. Whoever needs a control token asks
// for its id by name with [Tokenizer.Special], so text from a model, a program or
// a file cannot forge it. [Tokenizer.EncodeWithSpecials] recognises them as Hugging Face's
// library does, for text that we wrote ourselves.
//
// # Files
//
// [Train] (train.go) learns the merges; [Tokenizer.WriteJSON] and [ReadJSON]
// (json_*.go) keep a tokenizer in the
// tokenizer.json form of Hugging Face's tokenizers library, which loads our files.
// The reader takes the subset of that form which this package implements
// exactly (that of the GPT-2, SmolLM2, Llama 3, Qwen2 and Qwen3 families, and their
// relatives) and refuses everything else by name. [New] makes a tokenizer of [Parts] from
// other forms of files.
//
// [Train] orders ids as in GPT-2: 256 byte tokens in the order of the byte alphabet,
// then one token a merge, then the special tokens.
package token
