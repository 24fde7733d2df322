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
// splits, no normaliser or NFC, added tokens, merges as "a b" strings or as pairs, and a
// template around single texts. Whatever it does not implement exactly (other
// normalisers, splits or patterns, byte fallback, dropout) is an error that
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
	var f spelled
	if f.nfc, err = readNormalizer(o.take("normalizer")); err != nil {
		o.fail("%v", err)
	}
	if f.frame, err = readPostProcessor(o.take("post_processor")); err != nil {
		o.fail("%v", err)
	}
	if err := readDecoder(o.take("decoder")); err != nil {
		o.fail("%v", err)
	}
	if f.split, err = readSplit(o.take("pre_tokenizer")); err != nil {
		o.fail("%v", err)
	}
	o.list("added_tokens", func(_ int, raw json.RawMessage) error {
		a, err := readAdded(raw)
		f.added = append(f.added, a)
		return err
	})
	model := o.take("model")
	if err := o.close(); err != nil {
		return nil, err
	}
	if err := readModel(model, &f); err != nil {
		return nil, err
	}
	return assemble(f)
}

// readNormalizer accepts none and NFC, alone or in a sequence.
func readNormalizer(raw json.RawMessage) (nfc bool, err error) {
	if raw == nil || string(raw) == "null" {
		return false, nil
	}
	o := readObject(raw, "normalizer")
	switch kind := o.text("type"); kind {
	case "NFC":
		nfc = true
	case "Sequence":
		o.list("normalizers", func(_ int, raw json.RawMessage) error {
			step := readObject(raw, "step")
			if kind := step.text("type"); kind != "NFC" {
				step.fail("unsupported type %.60q, want NFC", kind)
			}
			nfc = true
			return step.close()
		})
	default:
		o.fail("unsupported type %.60q, want NFC", kind)
	}
	return nfc, o.close()
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

func readAdded(raw json.RawMessage) (Added, error) {
	o := readObject(raw, "token")
	a := Added{Content: o.text("content")}
	id, err := readID(o.take("id"))
	if err != nil {
		o.fail("%v", err)
	}
	a.ID = id
	a.SingleWord = o.flag("single_word", false)
	a.LStrip = o.flag("lstrip", false)
	a.RStrip = o.flag("rstrip", false)
	a.Normalized = o.flag("normalized", false)
	a.Special = o.flag("special", false)
	return a, o.close()
}
