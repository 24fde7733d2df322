// Package gguf reads language models from GGUF files, the format of llama.cpp, and writes
// them: the weights, dequantised to float32 at load, the shape, the tokenizer and the chat template.
//
// # Tour
//
//		path ──Open──▶ File ──Config──▶ lm.Config
//		                    ──Model───▶ *lm.Model
//		                    ──Tokenizer▶ *token.Tokenizer
//		                    ──ChatTemplate, EOS
//
//	  - [Open] parses the header (header.go, value.go): metadata, which are typed keys and
//	    values, and the list of tensors (tensor.go), whose data are read only when asked
//	    for. [Parse] does the same on any io.ReaderAt.
//	  - A tensor's [Type] says how its values are stored. Quantised types come in blocks
//	    of 32 or 256 values with scales of their own; dequant.go and dequant_k.go expand
//	    them to exactly the values of the reference implementation.
//	  - [File.Config] reads the shape from the metadata of a supported architecture
//	    (config.go), [File.Model] maps the tensors to Hugging Face's names and undoes the
//	    reordering of Llama's query and key rows (model.go, names.go).
//	  - [File.Tokenizer] takes the vocabulary, the merges and the name of the split
//	    (tokenizer.go).
//	  - [Write] goes the other way (write.go, describe.go) and refuses what a reader would not
//	    find again as it was.
//
// # Trust
//
// A file is outside input. Every size in it is compared with the length of the file
// before memory is asked for, tensors may not overlap, and what is not understood
// (an unknown architecture, a key that changes the arithmetic, a type, a split) is an error that
// names it. The format is described at
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
package gguf
