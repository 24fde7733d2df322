package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func writeJSON(t testing.TB, tok *Tokenizer) string {
	t.Helper()
	var b bytes.Buffer
	if err := tok.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJSONRoundTrip(t *testing.T) {
	for _, split := range Splits() {
		tok := trained(t, split)
		file := writeJSON(t, tok)
		back, err := ReadJSON(strings.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", split, err)
		}
		if back.Hash() != tok.Hash() || back.Split() != split || back.Vocab() != tok.Vocab() {
			t.Errorf("%s: read back hash %s, split %s, %d tokens", split, back.Hash(), back.Split(), back.Vocab())
		}
		if !slices.Equal(back.Specials(), tok.Specials()) {
			t.Errorf("%s: special tokens %q, want %q", split, back.Specials(), tok.Specials())
		}
		if again := writeJSON(t, back); again != file {
			t.Errorf("%s: the file changes when read and written", split)
		}
		rapid.Check(t, func(t *rapid.T) {
			text := anyText().Draw(t, "text")
			if got, want := back.Encode(text), tok.Encode(text); !slices.Equal(got, want) {
				t.Fatalf("ids %v, want %v", got, want)
			}
		})
	}
}

// variant reads a file of a fresh tokenizer after edit has changed its JSON tree.
func variant(t *testing.T, edit func(file map[string]any)) (*Tokenizer, error) {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal([]byte(writeJSON(t, trained(t, Digits))), &file); err != nil {
		t.Fatal(err)
	}
	edit(file)
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return ReadJSON(bytes.NewReader(data))
}

func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v
}

func set(v any, value any, path ...any) {
	last := path[len(path)-1]
	switch in := at(v, path[:len(path)-1]...).(type) {
	case map[string]any:
		in[last.(string)] = value
	case []any:
		in[last.(int)] = value
	}
}

// Other spellings of the same tokenizer.
func TestReadJSONVariants(t *testing.T) {
	want := trained(t, Digits).Hash()
	cases := map[string]func(f map[string]any){
		"as written": func(map[string]any) {},
		"merges as pairs": func(f map[string]any) {
			merges := at(f, "model", "merges").([]any)
			for i, m := range merges {
				left, right, _ := strings.Cut(m.(string), " ")
				merges[i] = []any{left, right}
			}
		},
		"special tokens in the vocabulary too": func(f map[string]any) {
			for _, a := range f["added_tokens"].([]any) {
				set(f, at(a, "id"), "model", "vocab", at(a, "content").(string))
			}
		},
		"added tokens in another order": func(f map[string]any) { slices.Reverse(f["added_tokens"].([]any)) },
		"empty affixes":                 func(f map[string]any) { set(f, "", "model", "end_of_word_suffix") },
		"no optional keys": func(f map[string]any) {
			for _, k := range []string{"version", "truncation", "padding", "normalizer", "post_processor"} {
				delete(f, k)
			}
			for _, k := range []string{"dropout", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges"} {
				delete(f["model"].(map[string]any), k)
			}
		},
		"an unknown token that is never used": func(f map[string]any) { set(f, "<|end|>", "model", "unk_token") },
		"empty normaliser":                    func(f map[string]any) { f["normalizer"] = map[string]any{"type": "Sequence", "normalizers": []any{}} },
		"byte-level post-processor":           func(f map[string]any) { f["post_processor"] = f["decoder"] },
		"pattern written out": func(f map[string]any) {
			bytesStep := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}
			split := map[string]any{"type": "Split", "pattern": map[string]any{"Regex": gpt2Pattern}, "behavior": "Isolated", "invert": false}
			set(f, []any{at(f, "pre_tokenizer", "pretokenizers", 0), split, bytesStep}, "pre_tokenizer", "pretokenizers")
		},
	}
	for name, edit := range cases {
		tok, err := variant(t, edit)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if tok.Hash() != want {
			t.Errorf("%s: another hash", name)
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	digits := []any{"pre_tokenizer", "pretokenizers", 0}
	cases := []struct {
		want  string
		value any
		path  []any
	}{
		{`file: normalizer: unsupported type "NFKC", want NFC`, map[string]any{"type": "NFKC"}, []any{"normalizer"}},
		{`normalizer: normalizers[1]: step: unsupported type "Lowercase", want NFC`, map[string]any{"type": "Sequence", "normalizers": []any{
			map[string]any{"type": "NFC"}, map[string]any{"type": "Lowercase"},
		}}, []any{"normalizer"}},
		{`file: unsupported truncation: got {"max`, map[string]any{"max_length": 5}, []any{"truncation"}},
		{`file: unsupported version: got "2.0"`, "2.0", []any{"version"}},
		{`file: unsupported key "extra"`, 1, []any{"extra"}},
		{`post_processor: unsupported type "RobertaProcessing"`, map[string]any{"type": "RobertaProcessing"}, []any{"post_processor"}},
		{`post_processor: special_tokens: got nothing, want an object`, map[string]any{"type": "TemplateProcessing"}, []any{"post_processor"}},
		{`post_processor: single: got no Sequence`, map[string]any{
			"type": "TemplateProcessing", "single": []any{}, "special_tokens": map[string]any{},
		}, []any{"post_processor"}},
		{`post_processor: single[0]: SpecialToken: got "<|end|>", want one of special_tokens`, map[string]any{
			"type": "TemplateProcessing", "single": []any{framePiece("<|end|>")}, "special_tokens": map[string]any{},
		}, []any{"post_processor"}},
		{`post_processor: "<|end|>": got ids [7], want 499 as in the vocabulary`, map[string]any{
			"type": "TemplateProcessing", "single": []any{framePiece("<|end|>"), framePiece("")},
			"special_tokens": map[string]any{"<|end|>": map[string]any{"id": "<|end|>", "ids": []any{7}, "tokens": []any{"<|end|>"}}},
		}, []any{"post_processor"}},
		{`post_processor: single[1]: Sequence: got the text twice`, map[string]any{
			"type": "TemplateProcessing", "single": []any{framePiece(""), framePiece("")}, "special_tokens": map[string]any{},
		}, []any{"post_processor"}},
		{`decoder: got null, want an object`, nil, []any{"decoder"}},
		{`decoder: unsupported type "Metaspace"`, "Metaspace", []any{"decoder", "type"}},
		{`pre_tokenizer: got null, want an object`, nil, []any{"pre_tokenizer"}},
		{`pre_tokenizer: unsupported type "Whitespace"`, "Whitespace", append(slices.Clone(digits), "type")},
		{`pre_tokenizer: unsupported individual_digits`, false, append(slices.Clone(digits), "individual_digits")},
		{`pre_tokenizer: unsupported key "more"`, 1, append(slices.Clone(digits), "more")},
		{`pre_tokenizer: unsupported add_prefix_space`, true, []any{"pre_tokenizer", "pretokenizers", 1, "add_prefix_space"}},
		{`pre_tokenizer: use_regex: got 1, want true or false`, 1, []any{"pre_tokenizer", "pretokenizers", 1, "use_regex"}},
		{`pre_tokenizer: unsupported steps "Digits, ByteLevel"`, false, []any{"pre_tokenizer", "pretokenizers", 1, "use_regex"}},
		{`pre_tokenizer: unsupported steps ""`, []any{}, []any{"pre_tokenizer", "pretokenizers"}},
		{`pre_tokenizer: pretokenizers: got {}, want a list`, map[string]any{}, []any{"pre_tokenizer", "pretokenizers"}},
		{`pre_tokenizer: unsupported pattern ".*"`, map[string]any{
			"type": "Split", "pattern": map[string]any{"Regex": ".*"}, "behavior": "Isolated", "invert": false,
		}, digits},
		{`pre_tokenizer: unsupported behavior: got "Removed"`, map[string]any{
			"type": "Split", "pattern": map[string]any{"Regex": gpt2Pattern}, "behavior": "Removed",
		}, digits},
		{`pre_tokenizer.pattern: Regex: got nothing, want a string`, map[string]any{
			"type": "Split", "pattern": map[string]any{"String": "x"}, "behavior": "Isolated",
		}, digits},
		{`added_tokens: got null, want a list`, nil, []any{"added_tokens"}},
		{`added_tokens[1]: token: special: got 1, want true or false`, 1, []any{"added_tokens", 1, "special"}},
		{`added_tokens[0]: token: lstrip: got "no", want true or false`, "no", []any{"added_tokens", 0, "lstrip"}},
		{`added_tokens[0]: token: content: got 7, want a string`, 7, []any{"added_tokens", 0, "content"}},
		{`added_tokens[0]: token: id: got -1`, -1, []any{"added_tokens", 0, "id"}},
		{`added_tokens[0]: token: id: got 1.5`, 1.5, []any{"added_tokens", 0, "id"}},
		{`vocabulary: got id 900 among 500 tokens, want ids without holes`, 900, []any{"added_tokens", 0, "id"}},
		{`vocabulary: got id 499 for`, 499, []any{"added_tokens", 0, "id"}},
		{`added_tokens: got "<|end|>" twice`, "<|end|>", []any{"added_tokens", 0, "content"}},
		{`special token "": got a name of 0 bytes`, "", []any{"added_tokens", 0, "content"}},
		{`added_tokens: "a": got id 498, want 64 as in the vocabulary`, "a", []any{"added_tokens", 0, "content"}},
		{`model: unsupported type "Unigram", want BPE`, "Unigram", []any{"model", "type"}},
		{`model: unsupported byte_fallback: got true`, true, []any{"model", "byte_fallback"}},
		{`model: unsupported dropout: got 0.1`, 0.1, []any{"model", "dropout"}},
		{`model: ignore_merges: got 0, want true or false`, 0, []any{"model", "ignore_merges"}},
		{`model: unsupported unk_token: got "[UNK]"`, "[UNK]", []any{"model", "unk_token"}},
		{`model.vocab: got [], want an object`, []any{}, []any{"model", "vocab"}},
		{`model.vocab: "a": id: got "64", want 0 to`, "64", []any{"model", "vocab", "a"}},
		{`model.vocab: "a": id: got 2000000000, want 0 to`, 2000000000, []any{"model", "vocab", "a"}},
		{`vocabulary: got id 65 for "a" and "b"`, 65, []any{"model", "vocab", "a"}},
		{`model.vocab: "x y": got ' ', want characters of the byte alphabet`, 500, []any{"model", "vocab", "x y"}},
		{`token 500: got 0 bytes`, 500, []any{"model", "vocab", ""}},
		{`token 500: got 5000 bytes`, 500, []any{"model", "vocab", strings.Repeat("x", 5000)}},
		{`model: merges: got 3, want a list`, 3, []any{"model", "merges"}},
		{`model: merges[0]: got "ab", want two tokens`, "ab", []any{"model", "merges", 0}},
		{`model: merges[0]: got "a b c", want two tokens`, "a b c", []any{"model", "merges", 0}},
		{`model: merges[0]: got ["a"], want two tokens`, []any{"a"}, []any{"model", "merges", 0}},
		{`model: merges[0]: got [1,2], want two tokens`, []any{1, 2}, []any{"model", "merges", 0}},
		{`model: merges[0]: got 5, want two tokens`, 5, []any{"model", "merges", 0}},
		{`model: merges[1]: got ["a","b"], want the form of the first`, []any{"a", "b"}, []any{"model", "merges", 1}},
		{`model.merges[0]: got "qqq", want a token of the vocabulary`, "qqq a", []any{"model", "merges", 0}},
		{`model.merges[0]: got "<|end|>", want a token of the vocabulary`, "<|end|> a", []any{"model", "merges", 0}},
		{`merge 0: got "q" + "!", want a result that is in the vocabulary`, "q !", []any{"model", "merges", 0}},
	}
	for _, c := range cases {
		_, err := variant(t, func(f map[string]any) { set(f, c.value, c.path...) })
		checkRefusal(t, fmt.Sprint(c.path, " = ", c.value), err, c.want)
	}
	_, err := variant(t, func(f map[string]any) { delete(at(f, "model", "vocab").(map[string]any), "a") })
	checkRefusal(t, "no token a", err, "want ids without holes")
	_, err = variant(t, func(f map[string]any) { // the id of a goes to a token nobody needs
		vocab := at(f, "model", "vocab").(map[string]any)
		vocab["QZQ"] = vocab["~"]
		delete(vocab, "~")
	})
	checkRefusal(t, "no token ~", err, "got no token for byte 0x7e, want all 256")
	_, err = variant(t, func(f map[string]any) {
		merges := at(f, "model", "merges").([]any)
		set(f, append(merges, merges[3]), "model", "merges")
	})
	checkRefusal(t, "a merge twice", err, "got the pair of merge 3 again")
}

// framePiece is a piece of a template: a special token, or the text where name is "".
func framePiece(name string) map[string]any {
	if name == "" {
		return map[string]any{"Sequence": map[string]any{"id": "A", "type_id": 0}}
	}
	return map[string]any{"SpecialToken": map[string]any{"id": name, "type_id": 0}}
}

func checkRefusal(t *testing.T, name string, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%.200s: accepted, want error %q", name, want)
	case !strings.HasPrefix(err.Error(), "tokenizer.json: ") || !strings.Contains(err.Error(), want):
		t.Errorf("%.200s: got error %q, want %q", name, err, want)
	case strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 400:
		t.Errorf("%.200s: error is not one short line: %q", name, err)
	}
}

func TestReadJSONHostileBytes(t *testing.T) {
	file := writeJSON(t, trained(t, GPT2))
	cases := []struct{ name, data, want string }{
		{"empty", "", "unexpected end of JSON"},
		{"cut", file[:len(file)/2], "unexpected end of JSON"},
		{"not an object", "[1]", "file: got [1], want an object"},
		{"null", "null", "file: got null, want an object"},
		{"trailing", file + "{}", "after top-level value"},
		{"syntax", strings.Replace(file, `"padding": null`, `"padding": nul`, 1), "line 4: invalid character"},
		{"deep", strings.Repeat("[", 1<<20), "exceeded max depth"},
		{"key twice", strings.Replace(file, `"padding": null`, `"version": "1.0"`, 1), `file: got the key "version" twice`},
		{"vocab key twice", strings.Replace(file, `"a": 64`, `"b": 64`, 1), `model.vocab: got the key "b" twice`},
		{"escaped key twice", strings.Replace(file, `"a": 64`, `"\u0062": 64`, 1), `model.vocab: got the key "b" twice`},
		{"float id", strings.Replace(file, `"a": 64`, `"a": 64.0`, 1), `"a": id: got 64.0`},
		{"exponent id", strings.Replace(file, `"a": 64`, `"a": 64e0`, 1), `"a": id: got 64e0`},
		{"huge id", strings.Replace(file, `"a": 64`, `"a": 18446744073709551680`, 1), `"a": id: got 1844`},
		{"invalid UTF-8", strings.Replace(file, `"a": 64`, "\"\xff\": 64", 1), "want characters of the byte alphabet"},
		{"lone surrogate", strings.Replace(file, `"<|end|>"`, `"\ud800"`, 1), "got invalid UTF-8"},
		{"case of keys", strings.Replace(file, `"normalizer"`, `"Normalizer"`, 1), `unsupported key "Normalizer"`},
	}
	for _, c := range cases {
		_, err := ReadJSON(strings.NewReader(c.data))
		checkRefusal(t, c.name, err, c.want)
	}
	_, err := ReadJSON(blanks{})
	checkRefusal(t, "endless", err, "got more than 33554432 bytes")

	many := strings.Repeat(`"a b",`, maxElements+2)
	_, err = ReadJSON(strings.NewReader(strings.Replace(file, `"merges": [`, `"merges": [`+many, 1)))
	checkRefusal(t, "many merges", err, "got more than 2097152 elements")

	broken := errors.New("disk on fire")
	if _, err := ReadJSON(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("reader's error is lost: %v", err)
	}
	pr, pw := io.Pipe()
	_ = pr.CloseWithError(broken)
	if err := trained(t, GPT2).WriteJSON(pw); !errors.Is(err, broken) {
		t.Errorf("writer's error is lost: %v", err)
	}
}

// blanks is an endless file of white space.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
