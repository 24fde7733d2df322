package organism

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/local"
)

// committed reads a committed recipe and makes its corpus small.
func committed(t *testing.T, name string) Recipe {
	t.Helper()
	data, err := RecipeOf(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRecipe(name, data)
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != name {
		t.Errorf("recipe %s names itself %s", name, r.Name)
	}
	r.Search.Articles, r.Search.Questions = min(r.Search.Articles, 1200), min(r.Search.Questions, 2000)
	if r.Chess.Puzzles > 0 {
		r.Chess.Puzzles, r.Chess.MaxMoves, r.Chess.MaxPieces, r.Chess.Mate2 = 150, 218, 32, 0.1 // found soonest
	}
	return r
}

func openStream(t *testing.T, r Recipe) stream {
	t.Helper()
	s, err := r.stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMathCorpusIsWhatItWas pins the transcripts that whale-tiny has been made from.
func TestMathCorpusIsWhatItWas(t *testing.T) {
	r, err := ParseRecipe("whale-tiny.yaml", TinyRecipe())
	if err != nil {
		t.Fatal(err)
	}
	r.Corpus.Problems = 300
	s := openStream(t, r)
	var all []Transcript
	for i := range 300 {
		all = append(all, s.transcript(i, weak), s.transcript(i, skilled), s.transcript(i, strong))
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	const want = "503c4528773328dba209faad1a8a2233"
	if got := string(whale.HashBytes("transcripts", data)); got != want {
		t.Errorf("got transcripts %s, want %s: whale-tiny's recipe no longer makes whale-tiny", got, want)
	}
}

// TestEveryEmbeddedModelHasItsRecipe compares what can be compared in no time.
func TestEveryEmbeddedModelHasItsRecipe(t *testing.T) {
	for _, name := range local.EmbeddedModels() {
		data, err := RecipeOf(name)
		if err != nil {
			t.Error(err)
			continue
		}
		r, err := ParseRecipe(name, data)
		if err != nil {
			t.Error(err)
			continue
		}
		b, err := local.Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, want := b.Model.Config(), r.config(b.Tokenizer.Vocab()); got != want {
			t.Errorf("%s: got the shape %+v, the recipe's is %+v", name, got, want)
		}
		if b.Tokenizer.Vocab() != r.Tokenizer.Vocab {
			t.Errorf("%s: got %d tokens, the recipe has %d", name, b.Tokenizer.Vocab(), r.Tokenizer.Vocab)
		}
	}
}

// TestSearchModelIsOfThisWorld: where the generator of the encyclopedia has changed, the recipe makes another model than the one that is embedded.
func TestSearchModelIsOfThisWorld(t *testing.T) {
	const name = "whale-tiny-search"
	data, err := RecipeOf(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRecipe(name, data)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := trainTokenizer(r, openStream(t, r))
	if err != nil {
		t.Fatal(err)
	}
	b, err := local.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if tok.Hash() != b.Tokenizer.Hash() {
		t.Error("the recipe's tokenizer is not the embedded model's: make the model again, and measure it again")
	}
}

func TestDomainsPretrainReproducibly(t *testing.T) {
	for _, name := range []string{"whale-tiny-search", "whale-tiny-chess"} {
		r := committed(t, name)
		r.Tokenizer = Tokenizer{Vocab: 400, Transcripts: 60}
		r.Model = Shape{Dim: 32, Layers: 1, Heads: 2, KVHeads: 1, FFN: 64, Context: 512, RopeTheta: 10000}
		r.Training.Steps, r.Training.BatchTokens, r.Training.Warmup = 6, 1024, 2
		one, err := Pretrain(t.Context(), r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		pool := kernel.NewPool(3)
		two, err := Pretrain(t.Context(), r, pool, nil)
		pool.Close()
		if err != nil {
			t.Fatal(err)
		}
		if one.Weights() != two.Weights() || one.Tokenizer.Hash() != two.Tokenizer.Hash() {
			t.Errorf("%s: the same recipe gave two models", name)
		}
	}
}

// TestEncodingOfDomainsIsWhatTheRendererShows: training data is the prompt that an agent would meet.
func TestEncodingOfDomainsIsWhatTheRendererShows(t *testing.T) {
	for _, name := range []string{"whale-tiny-search", "whale-tiny-chess"} {
		r := committed(t, name)
		r.Tokenizer = Tokenizer{Vocab: 400, Transcripts: 60}
		s := openStream(t, r)
		tok, err := trainTokenizer(r, s)
		if err != nil {
			t.Fatal(err)
		}
		renderer, err := local.NewRenderer(tok)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			tr := s.transcript(i, weak)
			var messages []whale.Message
			for _, turn := range tr[:len(tr)-1] {
				messages = append(messages, whale.Message{Role: turn.Role, Content: turn.Text})
			}
			prompt, err := renderer.Render(messages, nil, func(whale.ReplyRef) []int32 { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if got := encode(tr, tok, 0.5, 1<<20).Tokens[:len(prompt)-1]; !reflect.DeepEqual(got, prompt[:len(prompt)-1]) {
				t.Fatalf("%s: transcript %d is not what the renderer shows", name, i)
			}
		}
	}
}

func TestDomainErrors(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"whale-tiny", "name: whale-tiny", "name: whale-tiny\ndomain: go", `domain: got "go"`},
		{"whale-tiny", "name: whale-tiny", "name: whale-tiny\ndomain: search", `corpus: got values with domain "search"`},
		{"whale-tiny-search", "domain: search", "domain: math", `corpus.problems: got 0`},
		{"whale-tiny-search", "domain: search", "domain: chess", `search: got values with domain "chess"`},
		{"whale-tiny-search", "  two_hop: 0.4", "  two_hop: 1.4", "search.two_hop: got 1.4"},
		{"whale-tiny-search", "    guess: ", "    guess: 1", "search.weaknesses.guess"},
		{"whale-tiny-search", "    guess: ", "    gues: ", `did you mean "guess"`},
		{"whale-tiny-chess", "    illegal: ", "    illegal: -", "chess.weaknesses.illegal"},
		{"whale-tiny-chess", "  capture: 0", "  capture: 3", "chess.capture"},
		{"whale-tiny-chess", "  max_pieces: ", "  max_pieces: 9", "max_pieces"},
	} {
		data, err := RecipeOf(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		doc := strings.Replace(string(data), tc.old, tc.new, 1)
		if doc == string(data) {
			t.Errorf("%s has no %q", tc.name, tc.old)
		}
		if _, err := ParseRecipe("r.yaml", []byte(doc)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.new, err, tc.want)
		}
	}
	if _, err := RecipeOf("none"); err == nil {
		t.Error("a model that is none has a recipe")
	}
}

func TestControlHasNoWeaknesses(t *testing.T) {
	for _, name := range []string{"whale-tiny", "whale-tiny-search", "whale-tiny-chess"} {
		r := committed(t, name).Control()
		for _, w := range []any{r.Weaknesses, r.Search.Weaknesses, r.Chess.Weaknesses} {
			if !reflect.ValueOf(w).IsZero() {
				t.Errorf("%s: control has %+v", name, w)
			}
		}
		s := openStream(t, r)
		for i := range 100 {
			for _, turn := range s.transcript(i, weak) {
				if turn.Open {
					t.Fatalf("%s: transcript %d of the control has an open turn", name, i)
				}
			}
		}
		if a, b := fmt.Sprint(s.transcript(7, weak)), fmt.Sprint(s.transcript(7, weak)); a != b {
			t.Errorf("%s: transcript 7 is two", name)
		}
	}
}
