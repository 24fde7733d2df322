package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%swant\n%s", name, got, want)
	}
}

// planned are the sizes that package lm plans for training, which its own tests hold to what is taken.
var planned = regexp.MustCompile(`\d+\.\d MB to train.*: weights .*`)

// qwenFolder is a small Qwen3 model in a Hugging Face folder, with a chat template that nobody knows.
func qwenFolder(t *testing.T) string {
	t.Helper()
	specials := []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"}
	tok, err := token.Train(slices.Values([]string{"some text"}), token.TrainOptions{Vocab: 261, Special: specials, Split: token.Qwen})
	if err != nil {
		t.Fatal(err)
	}
	m, err := lm.New(lm.Config{Vocab: 264, Dim: 32, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 8, FFN: 64, MaxSeq: 8192, RopeTheta: 1e6, NormEps: 1e-6, QKNorm: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := m.Save(dir, lm.BF16); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := tok.WriteJSON(f); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"chat_template.jinja": "{{ messages }}", "generation_config.json": `{"eos_token_id": [258, 256]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestModelInfo(t *testing.T) {
	mask := func(s string) string { return planned.ReplaceAllString(s, "PLAN") }
	golden(t, "info-whale-tiny.txt", mask(must(t, "model", "info", "whale-tiny")))
	dir := qwenFolder(t)
	golden(t, "info-qwen3.txt", mask(strings.ReplaceAll(must(t, "model", "info", dir, "--template", "qwen3"), dir, "DIR")))

	var info modelInfo
	if err := json.Unmarshal([]byte(must(t, "model", "info", "--json", dir, "--template", "qwen3")), &info); err != nil {
		t.Fatal(err)
	}
	if info.Family != "qwen3" || info.Template.Name != "qwen3/1" || info.Template.Prefixes || info.Template.Fingerprint == "" || info.Config.Layers != 2 {
		t.Errorf("got %+v", info)
	}
	if m := info.Memory; m.Weights != 4*int64(info.Parameters) || m.Sampling < 2*m.Weights+m.Keys || m.Keys < m.Token*int64(m.Longest) || m.Trained != int64(info.Parameters) || m.Token != 2*2*2*8*4 || m.Training < 4*m.Weights {
		t.Errorf("got the memory %+v of %d parameters", info.Memory, info.Parameters)
	}
}

func TestModelInfoRefuses(t *testing.T) {
	dir := qwenFolder(t)
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{dir}, []string{"model " + dir + ": chat template: got one with the fingerprint ", "--template", "qwen3, "}},
		{[]string{dir, "--template", "qwen4"}, []string{`chat template: got "qwen4", want `, `did you mean "qwen3"?`}},
		{[]string{dir, "--template", "llama3.1"}, []string{"control token <|begin_of_text|> is missing"}},
	} {
		code, out, errs := command(t, append([]string{"model", "info"}, tc.args...)...)
		if code != exitInput || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: got exit code %d, %q, %q; want %d and one line", tc.args, code, out, errs, exitInput)
		}
		for _, want := range tc.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%v: got %s, want %q in it", tc.args, errs, want)
			}
		}
	}
}
