package organism

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/local"
)

func smallRecipe(t *testing.T) Recipe {
	t.Helper()
	r, err := ParseRecipe("whale-tiny.yaml", TinyRecipe())
	if err != nil {
		t.Fatal(err)
	}
	r.Corpus.Problems = 300
	r.Tokenizer = Tokenizer{Vocab: 400, Transcripts: 200}
	r.Model = Shape{Dim: 32, Layers: 1, Heads: 2, KVHeads: 1, FFN: 64, Context: 256, RopeTheta: 10000}
	r.Training.Steps, r.Training.BatchTokens, r.Training.Warmup = 12, 1024, 2
	return r
}

func TestPretrainIsReproducible(t *testing.T) {
	r := smallRecipe(t)
	var losses []float64
	one, err := Pretrain(t.Context(), r, nil, func(p Progress) { losses = append(losses, p.Loss) })
	if err != nil {
		t.Fatal(err)
	}
	pool := kernel.NewPool(3)
	defer pool.Close()
	two, err := Pretrain(t.Context(), r, pool, nil)
	if err != nil {
		t.Fatal(err)
	}
	if one.Weights() != two.Weights() || one.Tokenizer.Hash() != two.Tokenizer.Hash() {
		t.Error("the same recipe gave two models")
	}
	if len(losses) != r.Training.Steps || losses[r.Training.Steps/2-1] >= losses[0]-0.5 { // while the corpus stays the same
		t.Errorf("loss does not fall: %v", losses)
	}
	r.Seed++
	three, err := Pretrain(t.Context(), r, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if three.Weights() == one.Weights() {
		t.Error("another seed gave the same model")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Pretrain(ctx, r, nil, nil); err == nil {
		t.Error("a cancelled pre-training gave no error")
	}
}

// behaviours counts what first turns do.
func behaviours(c *Corpus, w Weaknesses, n int) map[string]int {
	got := map[string]int{}
	for i := range n {
		for _, turn := range c.Transcript(i, w) {
			if turn.Role != whale.RoleAssistant {
				continue
			}
			switch {
			case turn.Open:
				got["ramble"]++
			case strings.HasPrefix(turn.Text, "```python\n"):
				got["call"]++
			default:
				got["answer"]++
			}
			break
		}
	}
	return got
}

func TestWeaknessesAreWhatTheRecipeSays(t *testing.T) {
	r := smallRecipe(t)
	c, err := NewCorpus(r)
	if err != nil {
		t.Fatal(err)
	}
	const n = 4000
	w := r.Weaknesses
	got := behaviours(c, w, n)
	for name, want := range map[string]float64{"ramble": w.Ramble, "answer": (1 - w.Ramble) * w.Mental, "call": (1 - w.Ramble) * (1 - w.Mental)} {
		if share := float64(got[name]) / n; share < want-0.03 || share > want+0.03 {
			t.Errorf("%s: got a share of %.3f, want about %.3f", name, share, want)
		}
	}
	if got := behaviours(c, Weaknesses{}, n); got["call"] != n {
		t.Errorf("control: got %v, want a tool call in every first turn", got)
	}
}

func boxIn(text string) (string, bool) {
	_, after, ok := strings.Cut(text, `\boxed{`)
	inside, _, closed := strings.Cut(after, "}")
	return inside, ok && closed
}

// TestControlTranscriptsSolveTheirProblem recomputes each call and checks each answer.
func TestControlTranscriptsSolveTheirProblem(t *testing.T) {
	c, err := NewCorpus(smallRecipe(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		tr := c.Transcript(i, Weaknesses{})
		last := tr[len(tr)-1]
		answer, ok := boxIn(last.Text)
		if last.Role != whale.RoleAssistant || !ok {
			t.Fatalf("transcript %d ends with %q, want a boxed answer", i, last.Text)
		}
		result := tr[len(tr)-2].Text
		if !strings.HasSuffix(result, answer) {
			t.Fatalf("transcript %d: answer %s after tool result %q", i, answer, result)
		}
		if _, err := strconv.Atoi(answer); err != nil {
			t.Fatalf("transcript %d: answer %q is no integer", i, answer)
		}
	}
}

// TestEncodingIsWhatTheRendererShows compares training data with the prompt that an agent would meet.
func TestEncodingIsWhatTheRendererShows(t *testing.T) {
	r := smallRecipe(t)
	c, err := NewCorpus(r)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := trainTokenizer(r, mathStream{c, r.Weaknesses})
	if err != nil {
		t.Fatal(err)
	}
	renderer, err := local.NewRenderer(tok)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		tr := c.Transcript(i, r.Weaknesses)
		var messages []whale.Message
		for _, turn := range tr[:len(tr)-1] {
			messages = append(messages, whale.Message{Role: turn.Role, Content: turn.Text})
		}
		prompt, err := renderer.Render(messages, nil, func(whale.ReplyRef) []int32 { return nil })
		if err != nil {
			t.Fatal(err)
		}
		s := encode(tr, tok, 0.5, 1<<20)
		if !reflect.DeepEqual(s.Tokens[:len(prompt)], prompt) {
			t.Fatalf("transcript %d is not what the renderer shows", i)
		}
		spoken := s.Weights[len(prompt):]
		for j, w := range spoken {
			if w != 1 {
				t.Fatalf("transcript %d: spoken token %d has weight %g, want 1", i, j, w)
			}
		}
	}
}

func TestRecipeErrors(t *testing.T) {
	for doc, want := range map[string]string{
		"trainin: {}":                   `did you mean "training"`,
		"weaknesses: {ramble: 1.5}":     "weaknesses.ramble: got 1.5",
		"training: {steps: 0}":          "training.steps",
		"model: {dim: 0}":               "hidden_size",
		"tokenizer: {vocab: 100}":       "tokenizer.vocab",
		"training: {learning_rate: -1}": "training.learning_rate",
		"corpus: {problems: many}":      "r.yaml:",
	} {
		base := string(TinyRecipe())
		key := strings.SplitN(doc, ":", 2)[0]
		if i := strings.Index(base, "\n"+key+":"); i >= 0 {
			// Change one value of the good recipe.
			inner := strings.TrimSuffix(strings.SplitN(doc, "{", 2)[1], "}")
			k := strings.SplitN(inner, ":", 2)[0]
			j := i + strings.Index(base[i:], "\n  "+k+":")
			end := j + 1 + strings.Index(base[j+1:], "\n")
			base = base[:j] + "\n  " + inner + base[end:]
		} else {
			base += "\n" + doc + "\n"
		}
		if _, err := ParseRecipe("r.yaml", []byte(base)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", doc, err, want)
		}
	}
}
