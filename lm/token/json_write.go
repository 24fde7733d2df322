package token

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the tokenizer as a tokenizer.json of Hugging Face's tokenizers
// library, one token or merge a line. Special tokens are in added_tokens alone.
// The library, unlike [Tokenizer.Encode], recognises their names in a text.
func (t *Tokenizer) WriteJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	alphabet := newByteAlphabet()
	spell := func(id int32) string { return alphabet.spell(t.tokens[id]) }

	fmt.Fprint(b, "{\n\"version\": \"1.0\",\n\"truncation\": null,\n\"padding\": null,\n\"added_tokens\": [")
	for i, id := range t.specials {
		fmt.Fprintf(b, "%s{\"id\": %d, \"content\": %s, \"single_word\": false, \"lstrip\": false, \"rstrip\": false, \"normalized\": false, \"special\": true}",
			lineStart(i), id, quote(t.tokens[id]))
	}
	fmt.Fprintf(b, "\n],\n\"normalizer\": null,\n\"pre_tokenizer\": %s,\n\"post_processor\": null,\n", t.split.preTokenizer())
	fmt.Fprintf(b, "\"decoder\": %s,\n", byteLevel(true))
	fmt.Fprint(b, "\"model\": {\n\"type\": \"BPE\",\n\"dropout\": null,\n\"unk_token\": null,\n\"continuing_subword_prefix\": null,\n"+
		"\"end_of_word_suffix\": null,\n\"fuse_unk\": false,\n\"byte_fallback\": false,\n\"ignore_merges\": false,\n\"vocab\": {")
	n := 0
	for id := range int32(len(t.tokens)) {
		if !t.IsSpecial(id) {
			fmt.Fprintf(b, "%s%s: %d", lineStart(n), quote(spell(id)), id)
			n++
		}
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

// preTokenizer is the split in the file's terms.
func (s Split) preTokenizer() string {
	switch s {
	case Digits:
		return sequence(`{"type": "Digits", "individual_digits": true}`, byteLevel(true))
	case Qwen:
		split := fmt.Sprintf(`{"type": "Split", "pattern": {"Regex": %s}, "behavior": "Isolated", "invert": false}`, quote(qwenPattern))
		return sequence(split, byteLevel(false))
	}
	return byteLevel(true) // its built-in pattern is GPT-2's
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
