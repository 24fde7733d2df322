package local

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// plainChatML is a chat template of one line that many models ship.
const plainChatML = `{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

// testFolder is a model folder as others write them, with the given further files.
func testFolder(t testing.TB, family lm.Family, files map[string]any) string {
	t.Helper()
	tok := testTokenizer(t, "added")
	m, err := lm.New(lm.Config{Vocab: tok.Vocab() + 4, Dim: 32, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 8, FFN: 64, MaxSeq: 128, RopeTheta: 10000, NormEps: 1e-5,
		QKNorm: family == lm.Qwen3, QKVBias: family == lm.Qwen2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := m.Save(dir, lm.BF16); err != nil {
		t.Fatal(err)
	}
	if err := lm.ReplaceFile(filepath.Join(dir, fileTokenizer), tok.WriteJSON); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		data, ok := content.(string)
		if !ok {
			encoded, err := json.Marshal(content)
			if err != nil {
				t.Fatal(err)
			}
			data = string(encoded)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFolderOfOthers(t *testing.T) {
	config := map[string]any{"chat_template": plainChatML, "eos_token": "<|im_end|>", "model_max_length": 1e30}
	for name, files := range map[string]map[string]any{
		"in the tokenizer's config": {fileTokenizerConfig: config},
		"in a file":                 {fileTemplate: plainChatML + "\n", fileTokenizerConfig: map[string]any{"chat_template": "another"}},
		"in a list":                 {fileTokenizerConfig: map[string]any{"chat_template": []any{map[string]any{"name": "default", "template": plainChatML}}}},
	} {
		for _, family := range lm.Families() {
			files[fileGeneration] = map[string]any{"eos_token_id": []int{2, 3}, "do_sample": true}
			dir := testFolder(t, family, files)
			b, err := Open(dir)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := b.Renderer.Template().Name; got != "chatml" || b.Shipped != chat.Fingerprint(plainChatML) || b.Model.Config().Family() != family || b.Stored != "bfloat16" {
				t.Errorf("%s: got template %s with the fingerprint %s, family %s, stored as %s", name, got, b.Shipped, b.Model.Config().Family(), b.Stored)
			}
			end, _ := b.Tokenizer.Special("<|im_end|>")
			if got := b.Renderer.StopIDs(); len(got) != 3 || got[0] != end || got[1] != 2 || got[2] != 3 {
				t.Errorf("%s: replies end by %v, want %d, 2 and 3", name, got, end)
			}
			again := t.TempDir()
			if err := b.Save(again, lm.BF16); err != nil {
				t.Fatal(err)
			}
			copied, err := Open(again)
			if err != nil {
				t.Errorf("%s: saved: %v", name, err)
				continue
			}
			if copied.Weights() != b.Weights() || copied.Renderer.ID() != b.Renderer.ID() {
				t.Errorf("%s: saved and opened: got %s %s, want %s %s", name, copied.Weights().ID, copied.Renderer.ID(), b.Weights().ID, b.Renderer.ID())
			}
			for file := range files {
				was, err := os.ReadFile(filepath.Join(dir, file))
				is, err2 := os.ReadFile(filepath.Join(again, file))
				if err := errors.Join(err, err2); err != nil || string(was) != string(is) {
					t.Errorf("%s: %s changed in saving: %v", name, file, err)
				}
			}
		}
	}
}

// TestUnknownTemplateIsNamed opens a model whose template nobody knows, then by name, and saves the name with it.
func TestUnknownTemplateIsNamed(t *testing.T) {
	dir := testFolder(t, lm.Qwen3, map[string]any{fileTemplate: "{{ unheard of }}"})
	_, err := Open(dir)
	var unknown *chat.UnknownError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v, want an unknown template, in one line", err)
	}
	if _, err := OpenWith(dir, OpenOptions{Template: "qwen-3"}); err == nil || !strings.Contains(err.Error(), `did you mean "qwen3"?`) {
		t.Errorf("misspelled: got %v", err)
	}
	b, err := OpenWith(dir, OpenOptions{Template: "qwen3", Chat: chat.Options{KeepReasoning: true}})
	if err != nil {
		t.Fatal(err)
	}
	if !b.Renderer.PreservesPrefixes() {
		t.Error("the reasoning is not kept")
	}
	again := t.TempDir()
	if err := b.Save(again, lm.F32); err != nil {
		t.Fatal(err)
	}
	copied, err := Open(again)
	if err != nil {
		t.Fatal(err)
	}
	if got := copied.Renderer; got.Template().Name != "qwen3" || got.PreservesPrefixes() {
		t.Errorf("got %s, preserving prefixes: %v; want qwen3 as it is by default", got.Template().Name, got.PreservesPrefixes())
	}
	if _, err := OpenWith(dir, OpenOptions{Template: "llama3.1", Chat: chat.Options{KeepReasoning: true}}); err == nil || !strings.Contains(err.Error(), "keep_reasoning") {
		t.Errorf("an option that the template does not have: got %v", err)
	}
}

func TestFoldersRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]any
		want  string
	}{
		"none":            {map[string]any{}, ""},
		"empty config":    {map[string]any{fileTokenizerConfig: map[string]any{"chat_template": nil}}, ""},
		"several":         {map[string]any{fileTokenizerConfig: map[string]any{"chat_template": []any{map[string]any{"name": "default", "template": plainChatML}, map[string]any{"name": "tool_use", "template": "x"}}}}, "got a list of 2, want one; name a template"},
		"of another kind": {map[string]any{fileTokenizerConfig: `{"chat_template": 3}`}, "tokenizer_config.json: chat_template"},
		"not JSON":        {map[string]any{fileTokenizerConfig: `{`}, "tokenizer_config.json"},
		"name not JSON":   {map[string]any{fileWhale: `{"templates": "x"}`}, "whale.json"},
		"name unknown":    {map[string]any{fileWhale: `{"template": "x"}`}, `chat template: got "x"`},
		"end unknown":     {map[string]any{fileTemplate: plainChatML, fileGeneration: `{"eos_token_id": 100000}`}, "eos_token_id: got 100000"},
		"architecture":    {map[string]any{fileConfig: `{"model_type": "mamba"}`, fileTokenizer: "{}"}, `config.json: model_type: got "mamba", want "llama", "qwen2" or "qwen3"`},
		"too large":       {map[string]any{fileTemplate: strings.Repeat("x", maxText+1)}, "chat_template.jinja: got more than"},
	} {
		dir := testFolder(t, lm.Llama, tc.files)
		b, err := Open(dir)
		if tc.want == "" { // the test's tokenizer has whale-tiny's control tokens too
			if err != nil || b.Renderer.Template().Name != "whale-chat" {
				t.Errorf("%s: got %v, want whale-chat", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q and the folder", name, err, tc.want)
		}
	}
	if _, err := chooseTemplate("", "", bareTokenizer(t)); !errors.Is(err, errTemplate) {
		t.Errorf("no template, and not whale-tiny's control tokens: got %v", err)
	}
}

// TestTrainsWithAnyTemplate trains a Qwen3 folder, snapshots, and opens the snapshot.
func TestTrainsWithAnyTemplate(t *testing.T) {
	b, err := OpenWith(testFolder(t, lm.Qwen3, map[string]any{fileTemplate: "unknown"}), OpenOptions{Template: "qwen3", Chat: chat.Options{NoThinking: true}})
	if err != nil {
		t.Fatal(err)
	}
	tr := NewTrainer(b, adam(), Options{})
	update(t, tr, b, "a")
	dir := t.TempDir()
	if err := tr.Snapshot(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	other := NewTrainer(b, adam(), Options{})
	if err := other.Restore(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if other.Weights() != tr.Weights() || other.Weights() == b.Weights() {
		t.Errorf("restored weights: got %s, want %s", other.Weights().ID, tr.Weights().ID)
	}
	p, err := other.Publish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.ID() != b.Renderer.ID() {
		t.Errorf("the published policy renders as %s, want %s", p.ID(), b.Renderer.ID())
	}
	prompt, err := p.Render([]whale.Message{{Role: "user", Content: "hi"}}, nil, none)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Sample(t.Context(), whale.SampleRequest{Prompt: prompt, MaxTokens: 5, StopIDs: p.StopIDs(), Seed: 1, Sampling: whale.Sampling{Temperature: 1, TopP: 1}})
	if err != nil || len(c.Tokens) == 0 {
		t.Errorf("got %v %v", c.Tokens, err)
	}
}

// bareTokenizer lacks the control tokens of every template.
func bareTokenizer(t testing.TB) *token.Tokenizer {
	t.Helper()
	tok, err := token.Train(slices.Values([]string{"some text"}), token.TrainOptions{Vocab: 256, Split: token.Digits})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}
