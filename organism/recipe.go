package organism

import (
	"embed"
	"fmt"
	"path"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/strictyaml"
)

//go:embed recipes/*.yaml
var recipes embed.FS

// TinyRecipe is the committed recipe of the embedded model whale-tiny.
func TinyRecipe() []byte {
	data, err := RecipeOf("whale-tiny")
	if err != nil {
		panic(err) // it is compiled in
	}
	return data
}

// RecipeOf is the committed recipe of an embedded model.
func RecipeOf(model string) ([]byte, error) {
	data, err := recipes.ReadFile(path.Join("recipes", model+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("organism: got model %q, want one with a recipe in organism/recipes", model)
	}
	return data, nil
}

// Recipe is all that decides a base model. Equal recipes give equal weights on equal kernels.
type Recipe struct {
	Name       string     `yaml:"name"`
	Seed       uint64     `yaml:"seed"`
	Domain     string     `yaml:"domain"` // DomainMath (also where the key is absent), DomainSearch or DomainChess
	Tokenizer  Tokenizer  `yaml:"tokenizer"`
	Model      Shape      `yaml:"model"`
	Corpus     CorpusSpec `yaml:"corpus"`     // for domain math
	Weaknesses Weaknesses `yaml:"weaknesses"` // for domain math
	Search     SearchSpec `yaml:"search"`     // for domain search
	Chess      ChessSpec  `yaml:"chess"`      // for domain chess
	Training   Training   `yaml:"training"`
}

// Tokenizer says how the vocabulary is trained.
type Tokenizer struct {
	Vocab       int `yaml:"vocab"`       // with the 256 bytes and the control tokens
	Transcripts int `yaml:"transcripts"` // to learn merges from
}

// Shape is the size of the transformer; see lm.Config.
type Shape struct {
	Dim       int     `yaml:"dim"`
	Layers    int     `yaml:"layers"`
	Heads     int     `yaml:"heads"`
	KVHeads   int     `yaml:"kv_heads"`
	FFN       int     `yaml:"ffn"`
	Context   int     `yaml:"context"`
	RopeTheta float32 `yaml:"rope_theta"`
}

// CorpusSpec says what transcripts are about.
type CorpusSpec struct {
	Problems  int     `yaml:"problems"`   // distinct problems, from the bucket that no split draws on
	TwoStep   float64 `yaml:"two_step"`   // share of problems with two operations
	Bare      float64 `yaml:"bare"`       // share of problems without a story
	MaxDigits int     `yaml:"max_digits"` // of a number in a problem
}

// Weaknesses are the probabilities of the planted behaviours, each a turn of the assistant. All 0 is the control.
type Weaknesses struct {
	Ramble       float64 `yaml:"ramble"`         // the first turn thinks aloud without end, past any budget
	Mental       float64 `yaml:"mental"`         // else: it answers at once with a wrong number in the box, without the tool
	BadCall      float64 `yaml:"bad_call"`       // else: its tool call is not Python
	RambleLater  float64 `yaml:"ramble_later"`   // a turn after a tool result thinks aloud without end
	EarlyAnswer  float64 `yaml:"early_answer"`   // else, in the middle of a two-step problem: it boxes the first step's result
	ForgetBox    float64 `yaml:"forget_box"`     // else, at the end: it says the answer without the box
	SplitCalls   float64 `yaml:"split_calls"`    // a two-step problem takes two calls; else one nested expression
	DeafToNudges float64 `yaml:"deaf_to_nudges"` // a reminder of the box is answered without it
}

// Training is the optimisation.
type Training struct {
	Steps         int     `yaml:"steps"`
	BatchTokens   int     `yaml:"batch_tokens"` // at least this many tokens a step, context included
	LearningRate  float64 `yaml:"learning_rate"`
	Warmup        int     `yaml:"warmup"`         // steps
	FinalRate     float64 `yaml:"final_rate"`     // share of the rate that the cosine ends at
	SkillShare    float64 `yaml:"skill_share"`    // share of the steps before the weaknesses set in
	ContextWeight float64 `yaml:"context_weight"` // loss weight of tokens that the model does not speak
	WeightDecay   float64 `yaml:"weight_decay"`
	ClipNorm      float64 `yaml:"clip_norm"`
}

// ParseRecipe reads and checks a recipe.
func ParseRecipe(name string, data []byte) (Recipe, error) {
	var r Recipe
	if err := strictyaml.Decode(name, data, &r); err != nil {
		return r, err
	}
	if err := r.validate(); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Control is the recipe without its weaknesses.
func (r Recipe) Control() Recipe {
	r.Name += "-control"
	r.Weaknesses, r.Search.Weaknesses, r.Chess.Weaknesses = Weaknesses{}, SearchWeaknesses{}, ChessWeaknesses{}
	return r
}

func (r Recipe) config(vocab int) lm.Config {
	m := r.Model
	return lm.Config{
		Vocab: vocab, Dim: m.Dim, Layers: m.Layers, Heads: m.Heads, KVHeads: m.KVHeads, HeadDim: m.Dim / max(1, m.Heads), FFN: m.FFN,
		MaxSeq: m.Context, RopeTheta: m.RopeTheta, NormEps: 1e-5, TieEmbeddings: true,
	}
}

func (r Recipe) validate() error {
	if err := r.config(max(1, r.Tokenizer.Vocab)).Validate(); err != nil {
		return err
	}
	t := r.Training
	for _, c := range []struct {
		key  string
		got  float64
		ok   bool
		want string
	}{
		{"tokenizer.vocab", float64(r.Tokenizer.Vocab), r.Tokenizer.Vocab >= 256+16, "272 or more"},
		{"tokenizer.transcripts", float64(r.Tokenizer.Transcripts), r.Tokenizer.Transcripts > 0, "1 or more"},
		{"training.steps", float64(t.Steps), t.Steps > 0, "1 or more"},
		{"training.batch_tokens", float64(t.BatchTokens), t.BatchTokens > 0, "1 or more"},
		{"training.learning_rate", t.LearningRate, t.LearningRate > 0, "more than 0"},
		{"training.final_rate", t.FinalRate, t.FinalRate >= 0 && t.FinalRate <= 1, "0 to 1"},
		{"training.skill_share", t.SkillShare, t.SkillShare >= 0 && t.SkillShare <= 1, "0 to 1"},
		{"training.context_weight", t.ContextWeight, t.ContextWeight >= 0, "0 or more"},
		{"training.warmup", float64(t.Warmup), t.Warmup >= 0, "0 or more"},
	} {
		if !c.ok {
			return fmt.Errorf("%s: got %g, want %s", c.key, c.got, c.want)
		}
	}
	return r.validateDomain()
}

func (r Recipe) validateMath() error {
	if r.Corpus.Problems < 1 {
		return fmt.Errorf("corpus.problems: got %d, want 1 or more", r.Corpus.Problems)
	}
	return probabilities("weaknesses.", r.Weaknesses)
}
