package token

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteJSON writes the tokenizer as a tokenizer.json of Hugging Face's tokenizers
// library, one token or merge a line. Added tokens whose ids follow those of the
// learned ones are in added_tokens alone; others are in the vocabulary too, where
// the library takes their ids from.
// The library, unlike [Tokenizer.Encode], recognises special tokens' names in a text.
func (t *Tokenizer) WriteJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	alphabet := newByteAlphabet()
	spell := func(id int32) string { return alphabet.spell(t.tokens[id]) }

	fmt.Fprint(b, "{\n\"version\": \"1.0\",\n\"truncation\": null,\n\"padding\": null,\n\"added_tokens\": [")
	for i, a := range t.added {
		fmt.Fprintf(b, "%s{\"id\": %d, \"content\": %s, \"single_word\": %t, \"lstrip\": %t, \"rstrip\": %t, \"normalized\": %t, \"special\": %t}",
			lineStart(i), a.ID, quote(a.Content), a.SingleWord, a.LStrip, a.RStrip, a.Normalized, a.Special)
	}
	normalizer := "null"
	if t.nfc {
		normalizer = `{"type": "NFC"}`
	}
	fmt.Fprintf(b, "\n],\n\"normalizer\": %s,\n\"pre_tokenizer\": %s,\n\"post_processor\": %s,\n", normalizer, t.split.preTokenizer(), t.postProcessor())
	fmt.Fprintf(b, "\"decoder\": %s,\n", byteLevel(true))
	fmt.Fprintf(b, "\"model\": {\n\"type\": \"BPE\",\n\"dropout\": null,\n\"unk_token\": null,\n\"continuing_subword_prefix\": null,\n"+
		"\"end_of_word_suffix\": null,\n\"fuse_unk\": false,\n\"byte_fallback\": false,\n\"ignore_merges\": %t,\n\"vocab\": {", t.ignoreMerges)
	learned := t.lastLearned()
	n := 0
	for id := range int32(len(t.tokens)) {
		name := ""
		switch {
		case !t.isAdded[id]:
			name = spell(id)
		case id < learned:
			name = t.tokens[id]
		default:
			continue
		}
		fmt.Fprintf(b, "%s%s: %d", lineStart(n), quote(name), id)
		n++
	}
	fmt.Fprint(b, "\n},\n\"merges\": [")
	for i, m := range t.merges {
		// No spelling holds a space, so the older one-string form is unambiguous;
		// every version of the library reads it.
		fmt.Fprintf(b, "%s%s", lineStart(i), quote(spell(m.left)+" "+spell(m.right)))
	}
	fmt.Fprint(b, "\n]\n}\n}\n")
	return b.Flush()
}

// lastLearned is the highest id of a learned token.
func (t *Tokenizer) lastLearned() int32 {
	id := int32(len(t.tokens)) - 1
	for t.isAdded[id] { // there are 256 learned tokens at least
		id--
	}
	return id
}

// postProcessor is what PostProcess does in the file's terms.
func (t *Tokenizer) postProcessor() string {
	if len(t.prefix)+len(t.suffix) == 0 {
		return "null"
	}
	alphabet := newByteAlphabet()
	var single, known []string
	side := func(ids []int32) {
		for _, id := range ids {
			name := t.tokens[id]
			if !t.isAdded[id] {
				name = alphabet.spell(name)
			}
			single = append(single, fmt.Sprintf(`{"SpecialToken": {"id": %s, "type_id": 0}}`, quote(name)))
			entry := fmt.Sprintf(`%s: {"id": %s, "ids": [%d], "tokens": [%s]}`, quote(name), quote(name), id, quote(name))
			if !slices.Contains(known, entry) {
				known = append(known, entry)
			}
		}
	}
	side(t.prefix)
	text := `{"Sequence": {"id": "A", "type_id": 0}}`
	single = append(single, text)
	side(t.suffix)
	pair := strings.Join(single, ", ")
	pair = strings.Replace(pair, text, text+`, {"Sequence": {"id": "B", "type_id": 0}}`, 1)
	return fmt.Sprintf(`{"type": "TemplateProcessing", "single": [%s], "pair": [%s], "special_tokens": {%s}}`,
		strings.Join(single, ", "), pair, strings.Join(known, ", "))
}

// preTokenizer is the split in the file's terms.
func (s Split) preTokenizer() string {
	switch s {
	case Digits:
		return sequence(`{"type": "Digits", "individual_digits": true}`, byteLevel(true))
	case Qwen:
		return sequence(splitOn(qwenPattern), byteLevel(false))
	case Llama3:
		return sequence(splitOn(llama3Pattern), byteLevel(false))
	}
	return byteLevel(true) // its built-in pattern is GPT-2's
}

func splitOn(pattern string) string {
	return fmt.Sprintf(`{"type": "Split", "pattern": {"Regex": %s}, "behavior": "Isolated", "invert": false}`, quote(pattern))
}

func byteLevel(useRegex bool) string {
	return fmt.Sprintf(`{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": %t}`, useRegex)
}

func sequence(first, second string) string {
	return fmt.Sprintf(`{"type": "Sequence", "pretokenizers": [%s, %s]}`, first, second)
}

func lineStart(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}

// quote is s as a JSON string, without the escapes that only HTML needs.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
