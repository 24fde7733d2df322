package token

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The patterns as tokenizer.json files spell them. They are compared as text;
// the scanners implement exactly these.
const (
	gpt2Pattern   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	llama3Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwenPattern   = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// Steps of a pre_tokenizer, in the notation of splitOfSteps.
const (
	stepBytes      = "ByteLevel"
	stepBytesRegex = "ByteLevel(use_regex)"
	stepDigits     = "Digits"
	stepGPT2       = "Split(gpt2)"
	stepQwen       = "Split(qwen)"
	stepLlama3     = "Split(llama3)"
)

// readSplit recognises a pre_tokenizer.
func readSplit(raw json.RawMessage) (Split, error) {
	steps, err := readSteps(raw)
	if err != nil {
		return "", err
	}
	switch shape := strings.Join(steps, ", "); shape {
	case stepBytesRegex, stepGPT2 + ", " + stepBytes:
		return GPT2, nil
	case stepQwen + ", " + stepBytes:
		return Qwen, nil
	case stepLlama3 + ", " + stepBytes:
		return Llama3, nil
	case stepDigits + ", " + stepBytesRegex, stepDigits + ", " + stepGPT2 + ", " + stepBytes:
		return Digits, nil
	default:
		return "", fmt.Errorf("pre_tokenizer: unsupported steps %q", shape)
	}
}

func readSteps(raw json.RawMessage) ([]string, error) {
	const where, most = "pre_tokenizer", 8
	o := readObject(raw, where)
	kind := o.text("type")
	if kind != "Sequence" {
		step := readStep(o, kind)
		return []string{step}, o.close()
	}
	var steps []string
	o.list("pretokenizers", func(i int, raw json.RawMessage) error {
		if i == most {
			return fmt.Errorf("got more than %d steps", most)
		}
		inner := readObject(raw, where)
		steps = append(steps, readStep(inner, inner.text("type")))
		return inner.close()
	})
	return steps, o.close()
}

// readStep reads one step of that type.
func readStep(o *object, kind string) string {
	switch kind {
	case "ByteLevel":
		if o.flag("add_prefix_space", true) {
			o.fail("unsupported add_prefix_space: got true, want false")
		}
		o.flag("trim_offsets", true) // concerns the library's offsets only
		if o.flag("use_regex", true) {
			return stepBytesRegex
		}
		return stepBytes
	case "Digits":
		if !o.flag("individual_digits", false) {
			o.fail("unsupported individual_digits: got false, want true")
		}
		return stepDigits
	case "Split":
		o.only("behavior", `"Isolated"`)
		o.only("invert", "false")
		pattern := readObject(o.take("pattern"), o.where+".pattern")
		regex := pattern.text("Regex")
		if err := pattern.close(); err != nil {
			o.fail("%v", err)
		}
		switch regex {
		case gpt2Pattern:
			return stepGPT2
		case qwenPattern:
			return stepQwen
		case llama3Pattern:
			return stepLlama3
		}
		o.fail("unsupported pattern %.80q", regex)
	default:
		o.fail("unsupported type %.60q", kind)
	}
	return ""
}
