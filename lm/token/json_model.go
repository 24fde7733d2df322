package token

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// readModel reads the vocabulary and the merges into f, still as spelled.
func readModel(raw json.RawMessage, f *spelled) error {
	o := readObject(raw, "model")
	if kind := o.text("type"); kind != "BPE" {
		o.fail("unsupported type %.60q, want BPE", kind)
	}
	o.only("dropout", "null", "0", "0.0")
	if raw := o.fields["unk_token"]; string(raw) == "null" {
		o.take("unk_token")
	} else if raw != nil {
		f.unknown = o.text("unk_token")
	}
	o.only("continuing_subword_prefix", "null", `""`)
	o.only("end_of_word_suffix", "null", `""`)
	o.only("fuse_unk", "false")
	o.only("byte_fallback", "false")
	f.ignoreMerges = o.flag("ignore_merges", false)
	words := readObject(o.take("vocab"), "model.vocab")
	if words.err == nil && len(words.fields) > maxVocab {
		words.fail("got %d tokens, want at most %d", len(words.fields), maxVocab)
	}
	if words.err != nil {
		o.fail("%v", words.err)
	}
	if o.err == nil {
		var err error
		if f.vocab, err = readVocab(words); err != nil {
			o.fail("%v", err)
		}
	}
	var form byte // how the first merge is written: '"' or '['
	o.list("merges", func(i int, raw json.RawMessage) error {
		if i == 0 {
			form = raw[0]
		}
		m, err := readMerge(raw, form)
		f.merges = append(f.merges, m)
		return err
	})
	return o.close()
}

func readVocab(words *object) ([]entry, error) {
	vocab := make([]entry, 0, len(words.fields))
	for text, raw := range words.fields {
		id, err := readID(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %.60q: %w", words.where, text, err)
		}
		vocab = append(vocab, entry{text, id})
	}
	// Sorted, so that of several faults the same is reported each time.
	slices.SortFunc(vocab, func(a, b entry) int {
		if a.id != b.id {
			return int(a.id - b.id)
		}
		return strings.Compare(a.text, b.text)
	})
	return vocab, nil
}

func readMerge(raw json.RawMessage, form byte) ([2]string, error) {
	var parts []string
	var err error
	switch {
	case raw[0] != form:
		return [2]string{}, fmt.Errorf("got %s, want the form of the first merge", brief(raw))
	case form == '"':
		var s string
		err = json.Unmarshal(raw, &s)
		parts = strings.Split(s, " ")
	case form == '[':
		err = json.Unmarshal(raw, &parts)
	}
	if err != nil || len(parts) != 2 {
		return [2]string{}, fmt.Errorf("got %s, want two tokens", brief(raw))
	}
	return [2]string{parts[0], parts[1]}, nil
}

// readID reads a token id; a plain integer is the only form.
func readID(raw json.RawMessage) (int32, error) {
	id, err := strconv.ParseUint(string(raw), 10, 31)
	if err != nil || id >= maxVocab {
		return 0, fmt.Errorf("id: got %s, want 0 to %d", brief(raw), maxVocab-1)
	}
	return int32(id), nil
}
