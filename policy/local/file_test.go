package local

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
	"github.com/seed-095d5d2b/whale/policy/chat"
)

// ggufNames are the names that GGUF gives to tensors, in Hugging Face's order of words.
var ggufNames = strings.NewReplacer(
	"model.embed_tokens.", "token_embd.", "model.layers.", "blk.", "model.norm.", "output_norm.", "lm_head.", "output.",
	"input_layernorm", "attn_norm", "post_attention_layernorm", "ffn_norm", "self_attn.o_proj", "attn_output", "self_attn.", "attn_", "_proj", "", "mlp.", "ffn_",
)

// writeGGUF writes a Qwen3 model and its tokenizer as llama.cpp's converter does, in float32.
func writeGGUF(t testing.TB, m *lm.Model, tok *token.Tokenizer, template string) string {
	t.Helper()
	var file bytes.Buffer
	if err := tok.WriteJSON(&file); err != nil {
		t.Fatal(err)
	}
	var parts struct {
		Model struct {
			Vocab  map[string]int32
			Merges []string
		}
	}
	if err := json.Unmarshal(file.Bytes(), &parts); err != nil {
		t.Fatal(err)
	}
	tokens, kinds := make([]string, tok.Vocab()), make([]int32, tok.Vocab())
	for name, id := range parts.Model.Vocab {
		tokens[id], kinds[id] = name, 1
	}
	for _, a := range tok.Added() {
		tokens[a.ID], kinds[a.ID] = a.Content, 4
		if a.Special {
			kinds[a.ID] = 3
		}
	}
	le := binary.LittleEndian
	text := func(b []byte, s string) []byte { return append(le.AppendUint64(b, uint64(len(s))), s...) }
	c := m.Config()
	end, _ := tok.Special("<|im_end|>")
	keys := []struct {
		name  string
		value any
	}{
		{"general.architecture", "qwen3"}, {"qwen3.block_count", uint32(c.Layers)}, {"qwen3.context_length", uint32(c.MaxSeq)},
		{"qwen3.embedding_length", uint32(c.Dim)}, {"qwen3.feed_forward_length", uint32(c.FFN)}, {"qwen3.attention.head_count", uint32(c.Heads)},
		{"qwen3.attention.head_count_kv", uint32(c.KVHeads)}, {"qwen3.attention.key_length", uint32(c.HeadDim)}, {"qwen3.attention.value_length", uint32(c.HeadDim)},
		{"qwen3.rope.freq_base", c.RopeTheta}, {"qwen3.attention.layer_norm_rms_epsilon", c.NormEps},
		{"tokenizer.ggml.model", "gpt2"}, {"tokenizer.ggml.pre", "qwen2"}, {"tokenizer.ggml.tokens", tokens}, {"tokenizer.ggml.token_type", kinds},
		{"tokenizer.ggml.merges", parts.Model.Merges}, {"tokenizer.ggml.eos_token_id", uint32(end)}, {"tokenizer.chat_template", template},
	}
	b := le.AppendUint64(le.AppendUint64(le.AppendUint32([]byte("GGUF"), 3), uint64(len(m.Tensors()))), uint64(len(keys)))
	for _, k := range keys {
		b = text(b, k.name)
		switch v := k.value.(type) {
		case string:
			b = text(le.AppendUint32(b, 8), v)
		case uint32:
			b = le.AppendUint32(le.AppendUint32(b, 4), v)
		case float32:
			b = le.AppendUint32(le.AppendUint32(b, 6), math.Float32bits(v))
		case []string:
			b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, 9), 8), uint64(len(v)))
			for _, s := range v {
				b = text(b, s)
			}
		case []int32:
			b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, 9), 5), uint64(len(v)))
			for _, x := range v {
				b = le.AppendUint32(b, uint32(x))
			}
		}
	}
	pad := func(b []byte) []byte { return append(b, make([]byte, (32-len(b)%32)%32)...) }
	var data []byte
	for _, tensor := range m.Tensors() {
		b = le.AppendUint32(text(b, ggufNames.Replace(tensor.Name)), uint32(len(tensor.Shape)))
		for _, d := range slices.Backward(tensor.Shape) {
			b = le.AppendUint64(b, uint64(d))
		}
		data = pad(data)
		b = le.AppendUint64(le.AppendUint32(b, 0), uint64(len(data)))
		for _, x := range tensor.Data {
			data = le.AppendUint32(data, math.Float32bits(x))
		}
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, append(pad(b), data...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestGGUFOpens opens a file, saves it as a folder, and opens that.
func TestGGUFOpens(t *testing.T) {
	tok := testTokenizer(t, "added")
	m, err := lm.New(lm.Config{Vocab: tok.Vocab(), Dim: 32, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 8, FFN: 64, MaxSeq: 128, RopeTheta: 10000, NormEps: 1e-5, QKNorm: true, TieEmbeddings: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := writeGGUF(t, m, tok, plainChatML)
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.Weights() != weightsRef(m) || b.Renderer.Template().Name != "chatml" || b.Format != "GGUF" || b.Stored != "F32" {
		t.Errorf("got %s, template %s, %s of %s; want %s", b.Weights().ID, b.Renderer.Template().Name, b.Format, b.Stored, weightsRef(m).ID)
	}
	dir := t.TempDir()
	if err := b.Save(dir, lm.F32); err != nil {
		t.Fatal(err)
	}
	copied, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if copied.Weights() != b.Weights() || copied.Renderer.ID() != b.Renderer.ID() || copied.Shipped != b.Shipped {
		t.Errorf("saved and opened: got %s, %s, want %s, %s", copied.Weights().ID, copied.Renderer.ID(), b.Weights().ID, b.Renderer.ID())
	}

	unknown := writeGGUF(t, m, tok, "unheard of")
	if _, err := Open(unknown); err == nil || !strings.Contains(err.Error(), chat.Fingerprint("unheard of")) || !strings.Contains(err.Error(), unknown) {
		t.Errorf("unknown template: got %v", err)
	}
	if b, err := OpenWith(unknown, OpenOptions{Template: "qwen3"}); err != nil || b.Renderer.Template().Name != "qwen3" {
		t.Errorf("named template: got %v", err)
	}
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte("no model"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(text); err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a file of another kind: got %v", err)
	}
	if _, err := Open("/dev/null"); err == nil {
		t.Error("a device: got no error")
	}
}
