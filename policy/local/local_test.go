package local

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testBundle is a tiny untrained model with the template's tokenizer.
func testBundle(t testing.TB) *Bundle {
	t.Helper()
	texts := []string{"What is 12 + 30?", "The answer is \\boxed{42}.", "```python\n12+30\n```"}
	tok, err := token.Train(slices.Values(texts), token.TrainOptions{Vocab: 300, Special: Specials(), Split: token.Digits})
	if err != nil {
		t.Fatal(err)
	}
	m, err := lm.New(lm.Config{Vocab: tok.Vocab(), Dim: 32, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 8, FFN: 64, MaxSeq: 128, RopeTheta: 10000, NormEps: 1e-5, TieEmbeddings: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBundle(m, tok, "test")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func none(whale.ReplyRef) []int32 { return nil }

func TestEmbeddedModelOpens(t *testing.T) {
	b, err := Open("whale-tiny")
	if err != nil {
		t.Fatal(err)
	}
	if n := b.Model.NumParams(); n < 1_000_000 || n > 4_000_000 {
		t.Errorf("whale-tiny has %d parameters, want 1 to 4 million", n)
	}
	if names := EmbeddedModels(); !slices.Contains(names, "whale-tiny") {
		t.Errorf("embedded models: got %v", names)
	}
}

// TestLaterPromptExtendsEarlier is what merging calls into one training sequence rests on.
func TestLaterPromptExtendsEarlier(t *testing.T) {
	b := testBundle(t)
	r := b.Renderer
	rapid.Check(t, func(t *rapid.T) {
		var history []whale.Message
		var sampled [][]int32
		replies := func(ref whale.ReplyRef) []int32 { return sampled[ref-1] }
		var before []int32
		for turn := range 3 {
			role := rapid.SampledFrom([]string{whale.RoleSystem, whale.RoleUser, whale.RoleTool}).Draw(t, "role")
			history = append(history, whale.Message{Role: role, Content: rapid.String().Draw(t, "text")})
			prompt, err := r.Render(history, nil, replies)
			if err != nil {
				t.Fatal(err)
			}
			if len(prompt) < len(before) || !slices.Equal(prompt[:len(before)], before) {
				t.Fatalf("turn %d does not extend what came before", turn)
			}
			ids := rapid.SliceOf(rapid.Int32Range(0, int32(b.Tokenizer.Vocab()-1))).Draw(t, "ids")
			sampled = append(sampled, ids)
			history = append(history, whale.Message{Role: whale.RoleAssistant, Reply: whale.ReplyRef(turn + 1)})
			before = append(slices.Clone(prompt), ids...)
		}
	})
}

// TestTextNeverMakesControlTokens writes the template's control tokens into messages.
func TestTextNeverMakesControlTokens(t *testing.T) {
	b := testBundle(t)
	evil := "hi" + strings.Join(Specials(), "")
	ids, err := b.Renderer.Render([]whale.Message{{Role: whale.RoleUser, Content: evil}}, []whale.ToolSpec{{Name: evil, Description: evil}}, none)
	if err != nil {
		t.Fatal(err)
	}
	control := 0
	for _, id := range ids {
		if b.Tokenizer.IsSpecial(id) {
			control++
		}
	}
	if control != 5 { // two messages' role and end, and the assistant's turn
		t.Errorf("got %d control tokens, want 5", control)
	}
}

func TestRenderRefuses(t *testing.T) {
	b := testBundle(t)
	for _, m := range []whale.Message{{Role: "robot", Content: "x"}, {Role: whale.RoleAssistant, Reply: 3}} {
		if _, err := b.Renderer.Render([]whale.Message{m}, nil, none); err == nil || !strings.Contains(err.Error(), "messages[0]") {
			t.Errorf("%+v: got %v, want an error that names messages[0]", m, err)
		}
	}
}

func TestParseToolCalls(t *testing.T) {
	b := testBundle(t)
	text := `look: <tool_call>{"name": "calculator", "arguments": {"code": "1+1"}}</tool_call> and <tool_call>{broken</tool_call><tool_call>{"name":"x"`
	got, calls := b.Renderer.Parse(append(b.Tokenizer.Encode(text), b.Renderer.StopIDs()...))
	if got != text {
		t.Errorf("text: got %q", got)
	}
	if len(calls) != 1 || calls[0].Name != "calculator" || string(calls[0].Args["code"]) != `"1+1"` {
		t.Errorf("calls: got %+v, want the one that is whole", calls)
	}
}

func TestSampleStopsAtText(t *testing.T) {
	b := testBundle(t)
	p := NewPolicy(b.Renderer, b.Model, Options{MaxBatch: 4})
	defer p.Close()
	prompt, err := b.Renderer.Render([]whale.Message{{Role: whale.RoleUser, Content: "hello"}}, nil, none)
	if err != nil {
		t.Fatal(err)
	}
	req := whale.SampleRequest{Prompt: prompt, MaxTokens: 60, Seed: 3, Sampling: whale.Sampling{Temperature: 1, TopP: 1}}
	free, err := p.Sample(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	text := b.Tokenizer.Decode(free.Tokens)
	req.StopText = []string{text[5:7]}
	cut, err := p.Sample(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if cut.Finish != whale.FinishStop || len(cut.Tokens) >= len(free.Tokens) || !reflect.DeepEqual(cut.Tokens, free.Tokens[:len(cut.Tokens)]) {
		t.Errorf("got %d tokens, finish %s; want a proper prefix of the %d that end by stop", len(cut.Tokens), cut.Finish, len(free.Tokens))
	}
	// A control token in the middle of a stop text has no bytes, and hides nothing.
	stop := p.stopText([]string{"ab"})
	a, end, bb := b.Tokenizer.Encode("a"), b.Renderer.StopIDs(), b.Tokenizer.Encode("b")
	ids := append(append(slices.Clone(a), end...), end...)
	for n := range ids {
		if stop(ids[:n+1]) {
			t.Fatal("stopped before the stop text was there")
		}
	}
	if ids = append(ids, bb...); !stop(ids) {
		t.Error("a stop text around control tokens was missed")
	}
	if cut.Weights.ID != b.Weights().ID || cut.Weights.ID == "" {
		t.Errorf("completion names weights %q, want %q", cut.Weights.ID, b.Weights().ID)
	}
}

func trainingBatch(b *Bundle, texts ...string) []whale.Sequence {
	var out []whale.Sequence
	for _, s := range texts {
		ids := b.Tokenizer.Encode(s)
		w := make([]float32, len(ids))
		for i := 1; i < len(w); i++ {
			w[i] = 1
		}
		out = append(out, whale.Sequence{Tokens: ids, Weights: w})
	}
	return out
}

func adam() lm.AdamW { return lm.AdamW{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, ClipNorm: 1} }

func update(t *testing.T, tr *Trainer, b *Bundle, op string) whale.TrainStats {
	t.Helper()
	if err := tr.Accumulate(t.Context(), op, trainingBatch(b, "What is 12 + 30?", "The answer is "+op), whale.Loss{}); err != nil {
		t.Fatal(err)
	}
	stats, err := tr.Step(t.Context(), op, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestNoStepIsAppliedTwice repeats operations, also after a snapshot and a restore.
func TestNoStepIsAppliedTwice(t *testing.T) {
	b := testBundle(t)
	tr := NewTrainer(b, adam(), Options{})
	first := update(t, tr, b, "a")
	after := tr.Weights().ID
	if after == b.Weights().ID {
		t.Fatal("a step changed nothing")
	}
	again, err := tr.Step(t.Context(), "a", 1e-3)
	if err != nil || again != first || tr.Weights().ID != after {
		t.Fatalf("repeated step: got %+v %v, want the first one's result %+v and unchanged weights", again, err, first)
	}
	dir := t.TempDir()
	if err := tr.Snapshot(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	other := NewTrainer(b, adam(), Options{})
	if err := other.Restore(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if again, err := other.Step(t.Context(), "a", 1e-3); err != nil || again != first || other.Weights().ID != after {
		t.Fatalf("repeated step after restore: got %+v %v", again, err)
	}
	if err := tr.Accumulate(t.Context(), "b", trainingBatch(b, "What is 12 + 30?"), whale.Loss{}); err != nil {
		t.Fatal(err)
	}
	if err := tr.Snapshot(t.Context(), t.TempDir()); err == nil {
		t.Error("a snapshot between accumulate and step: got no error")
	}
	for _, twice := range []int{1, 2} { // the second accumulation of one op adds nothing
		if err := other.Accumulate(t.Context(), "b", trainingBatch(b, "What is 12 + 30?"), whale.Loss{}); err != nil {
			t.Fatal(twice, err)
		}
	}
	// An operation that was applied is not accumulated again: nothing of it may leak into the next step.
	if err := other.Accumulate(t.Context(), "a", trainingBatch(b, "What is 12 + 30?"), whale.Loss{}); err != nil {
		t.Fatal(err)
	}
	one, _ := tr.Step(t.Context(), "b", 1e-3)
	two, _ := other.Step(t.Context(), "b", 1e-3)
	if one != two || tr.Weights() != other.Weights() {
		t.Errorf("accumulating twice: got %+v, want %+v", two, one)
	}
}

func TestSnapshotGoesOnExactly(t *testing.T) {
	b := testBundle(t)
	straight := NewTrainer(b, adam(), Options{})
	broken := NewTrainer(b, adam(), Options{})
	for _, op := range []string{"1", "2"} {
		update(t, straight, b, op)
		update(t, broken, b, op)
	}
	dir := t.TempDir()
	if err := broken.Snapshot(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	resumed := NewTrainer(b, adam(), Options{})
	if err := resumed.Restore(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	a, c := update(t, straight, b, "3"), update(t, resumed, b, "3")
	if a != c || straight.Weights() != resumed.Weights() {
		t.Errorf("got %+v and %s, want %+v and %s", c, resumed.Weights().ID, a, straight.Weights().ID)
	}
	opened, err := Open(dir) // a snapshot is a model folder
	if err != nil {
		t.Fatal(err)
	}
	if opened.Weights() != broken.Weights() {
		t.Errorf("the snapshot opens as %s, want %s", opened.Weights().ID, broken.Weights().ID)
	}
}

// TestPublishedPolicyIsFrozen trains on after publishing.
func TestPublishedPolicyIsFrozen(t *testing.T) {
	b := testBundle(t)
	tr := NewTrainer(b, adam(), Options{})
	p, err := tr.Publish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	req := whale.SampleRequest{Prompt: []int32{1, 2, 3}, MaxTokens: 8, Seed: 1, Sampling: whale.Sampling{Temperature: 1, TopP: 1}}
	before, err := p.Sample(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	update(t, tr, b, "x")
	req.Seed = 1
	after, err := p.Sample(context.Background(), req)
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("the published policy moved with the trainer: %v", err)
	}
	if tr.Weights() == p.Weights() {
		t.Error("the trainer's weights did not change")
	}
}

func TestOpenRefusesBadFolders(t *testing.T) {
	good := t.TempDir()
	if err := testBundle(t).Save(good, lm.F32); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		spoil func(dir string) error
		want  string
	}{
		{"no weights", func(d string) error { return os.Remove(filepath.Join(d, fileWeights)) }, "model.safetensors is missing"},
		{"no tokenizer", func(d string) error { return os.Remove(filepath.Join(d, fileTokenizer)) }, "tokenizer.json is missing"},
		{"truncated weights", func(d string) error { return os.Truncate(filepath.Join(d, fileWeights), 5000) }, "model.safetensors"},
		{"empty weights", func(d string) error { return os.Truncate(filepath.Join(d, fileWeights), 0) }, "model.safetensors"},
		{"config is not JSON", func(d string) error { return os.WriteFile(filepath.Join(d, fileConfig), []byte("{"), 0o644) }, "config.json"},
		{"config of another size", func(d string) error {
			return os.WriteFile(filepath.Join(d, fileConfig), []byte(`{"vocab_size":9,"hidden_size":8,"num_hidden_layers":1,"num_attention_heads":1,"num_key_value_heads":1,"head_dim":8,"intermediate_size":8,"max_position_embeddings":8,"rope_theta":1,"rms_norm_eps":1e-5}`), 0o644)
		}, ""},
		{"tokenizer is not JSON", func(d string) error { return os.WriteFile(filepath.Join(d, fileTokenizer), []byte("[]"), 0o644) }, "tokenizer.json"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		if err := tc.spoil(dir); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q and the folder", tc.name, err, tc.want)
		}
	}
	if _, err := Open(filepath.Join(good, "nowhere")); err == nil || !strings.Contains(err.Error(), "whale-tiny") {
		t.Errorf("missing folder: got %v, want the embedded names", err)
	}
}
