package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxFile bounds a tokenizer.json in bytes; Qwen3's has 11 MB.
const maxFile = 32 << 20

// ReadJSON reads a tokenizer.json: a byte-level BPE model with one of the known
// splits and special tokens, merges as "a b" strings or as pairs. Whatever it
// does not implement exactly (normalisers, other splits or patterns, templates,
// added tokens that are not special, byte fallback, dropout) is an error that
// names it. Input that is larger than 32 MiB, holds a key or an id twice, leaves
// an id or a byte without a token, or merges what is not in the vocabulary is
// refused too. Errors are one line.
func ReadJSON(r io.Reader) (*Tokenizer, error) {
	t, err := readJSON(r)
	if err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	return t, nil
}

func readJSON(r io.Reader) (*Tokenizer, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("got more than %d bytes", maxFile)
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		var at *json.SyntaxError
		if errors.As(err, &at) {
			line := 1 + bytes.Count(data[:min(int(at.Offset), len(data))], []byte("\n"))
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		return nil, err
	}
	o := readObject(raw, "file")
	o.only("version", `"1.0"`)
	o.only("truncation", "null")
	o.only("padding", "null")
	o.only("normalizer", "null")
	if err := readPostProcessor(o.take("post_processor")); err != nil {
		o.fail("%v", err)
	}
	if err := readDecoder(o.take("decoder")); err != nil {
		o.fail("%v", err)
	}
	split, err := readSplit(o.take("pre_tokenizer"))
	if err != nil {
		o.fail("%v", err)
	}
	var added []entry
	o.list("added_tokens", func(_ int, raw json.RawMessage) error {
		a, err := readAdded(raw)
		added = append(added, a)
		return err
	})
	model := o.take("model")
	if err := o.close(); err != nil {
		return nil, err
	}
	vocab, merges, err := readModel(model)
	if err != nil {
		return nil, err
	}
	return assemble(split, vocab, merges, added)
}

// entry is a token by its spelling in the file.
type entry struct {
	text string
	id   int32
}

// readPostProcessor accepts none, and the byte-level one, which adds no tokens.
func readPostProcessor(raw json.RawMessage) error {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	return readByteLevel(raw, "post_processor")
}

func readDecoder(raw json.RawMessage) error {
	return readByteLevel(raw, "decoder")
}

// readByteLevel reads a step whose flags do not change ids or text.
func readByteLevel(raw json.RawMessage, where string) error {
	o := readObject(raw, where)
	if kind := o.text("type"); kind != "ByteLevel" {
		o.fail("unsupported type %.60q, want ByteLevel", kind)
	}
	for _, key := range []string{"add_prefix_space", "trim_offsets", "use_regex"} {
		o.flag(key, true)
	}
	return o.close()
}

func readAdded(raw json.RawMessage) (entry, error) {
	o := readObject(raw, "token")
	e := entry{text: o.text("content")}
	id, err := readID(o.take("id"))
	if err != nil {
		o.fail("%v", err)
	}
	e.id = id
	o.only("single_word", "false")
	o.only("lstrip", "false")
	o.only("rstrip", "false")
	o.flag("normalized", false) // there is no normaliser
	if !o.flag("special", false) {
		o.fail("unsupported special: got false, want true")
	}
	return e, o.close()
}
