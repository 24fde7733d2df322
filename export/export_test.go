package export

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/store"
)

func export(t *testing.T, run string, o Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), run, filepath.Join(t.TempDir(), "out"), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t *testing.T, path string) *local.Bundle {
	t.Helper()
	b, err := local.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sampled is what a model says to two prompts.
func sampled(t *testing.T, b *local.Bundle) [][]int32 {
	t.Helper()
	p := b.NewPolicy(local.Options{})
	defer p.Close()
	var out [][]int32
	for seed, text := range []string{"What is 12 + 30?", "Count the apples."} {
		prompt, err := p.Render([]whale.Message{{Role: whale.RoleUser, Content: text}}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Sample(t.Context(), whale.SampleRequest{Prompt: prompt, MaxTokens: 24, StopIDs: p.StopIDs(), Seed: uint32(seed), Sampling: whale.Sampling{Temperature: 1, TopP: 1, TopK: 20}})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c.Tokens)
	}
	return out
}

func same(a, b [][]int32) bool {
	return slices.EqualFunc(a, b, func(x, y []int32) bool { return slices.Equal(x, y) })
}

func read(t *testing.T, r *Result, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Exact formats hold the run's weights: what is opened has their identity, and says the same.
func TestExactFormats(t *testing.T) {
	for _, tc := range []struct {
		what    string
		run     *fixture
		format  Format
		model   string // below the export
		files   []string
		same    bool // as the run's weights, by identity
		library string
	}{
		{"hf", &full, HF, ".", []string{"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}, true, "transformers"},
		{"gguf", &full, GGUF, "model.gguf", []string{"model.gguf"}, true, "llama.cpp"},
		{"peft", &adapter, PEFT, ".", []string{"adapter_config.json", "adapter_model.safetensors", "whale.json"}, true, "peft"},
		{"hf of an adapter", &adapter, HF, ".", []string{"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}, false, "transformers"},
		{"gguf of an adapter", &adapter, GGUF, "model.gguf", []string{"model.gguf"}, false, "llama.cpp"},
	} {
		t.Run(tc.what, func(t *testing.T) {
			st := tc.run.story(t)
			final, err := st.Moment(recipe.MomentFinal)
			if err != nil {
				t.Fatal(err)
			}
			was, err := st.Model(final)
			if err != nil {
				t.Fatal(err)
			}
			r := export(t, st.Dir, Options{Format: tc.format, Type: TypeF32, Build: "builder"})
			files := append([]string{"README.md", "config.yaml", r.HarnessFile}, tc.files...)
			slices.Sort(files)
			if !slices.Equal(r.Files, files) {
				t.Errorf("got files %v, want %v", r.Files, files)
			}
			b := open(t, filepath.Join(r.Dir, tc.model))
			if b.Weights().ID != r.Stored || (r.Stored == final.Weights) != tc.same || r.Moment.Weights != final.Weights {
				t.Errorf("got weights %s, reported %s of %s, want the run's: %v", b.Weights().ID, r.Stored, r.Moment.Weights, tc.same)
			}
			if b.Model.Hash() != was.Model.Hash() || b.Renderer.ID() != was.Renderer.ID() {
				t.Error("the tensors or the renderer changed")
			}
			if got, want := sampled(t, b), sampled(t, was); !same(got, want) || len(want[0]) == 0 {
				t.Errorf("got samples %v, want %v", got, want)
			}
			card := read(t, r, "README.md")
			for _, want := range []string{
				"library_name: " + tc.library, string(final.Weights), string(final.Harness), string(st.Begin.Task), "| (θK,hK) |", "| (θ0,h0) |", "Mean@2 on the test split, 4 examples",
				"| 0-weight | 2 | 0 |", "| 1-harness | 0 | 1 |", "| weight | 32 |", "16 different, in 32 rollouts", "temperature 1, top_p 1, top_k 20", "run seed: 1", "`0123abcd`", "`builder`",
				"another seed may come out elsewhere", "  learning_rate: 0.0002\n", "this export",
			} {
				if !strings.Contains(card, want) {
					t.Errorf("the card lacks %q:\n%s", want, card)
				}
			}
			if merged := strings.Contains(card, "merged into its base"); merged != (!tc.same) {
				t.Errorf("the card says that the adapter is merged: %v, want %v", merged, !tc.same)
			}
			if got := whale.HarnessID([]byte(read(t, r, r.HarnessFile))); got != final.Harness {
				t.Errorf("got the harness %s, want %s", got, final.Harness)
			}
			if c, err := recipe.LoadConfig(filepath.Join(r.Dir, "config.yaml")); err != nil || c.Name != "tiny" {
				t.Errorf("got config %q, %v", c.Name, err)
			}
		})
	}
}

// Smaller types are said to be what they are.
func TestRoundedFormats(t *testing.T) {
	for _, tc := range []struct {
		format      Format
		kind, model string
	}{{HF, TypeBF16, "."}, {GGUF, TypeBF16, fileGGUF}, {GGUF, TypeF16, fileGGUF}} {
		r := export(t, full.make(t), Options{Format: tc.format, Type: tc.kind})
		if r.Stored == r.Moment.Weights || open(t, filepath.Join(r.Dir, tc.model)).Weights().ID != r.Stored {
			t.Errorf("%s %s: got stored weights %s of %s", tc.format, tc.kind, r.Stored, r.Moment.Weights)
		}
		if card := read(t, r, "README.md"); !strings.Contains(card, "they are rounded to "+tc.kind) || !strings.Contains(card, string(r.Stored)) {
			t.Errorf("%s %s: the card does not say that the weights are rounded:\n%s", tc.format, tc.kind, card)
		}
	}
}

func TestMoments(t *testing.T) {
	st := full.story(t)
	for _, tc := range []struct {
		at, folder string // of the snapshot
		harness    whale.ID
	}{
		{"start", "", st.Begin.Harness}, {"0-weight", "step-000001", st.Begin.Harness}, {"step-000001", "step-000001", st.Begin.Harness},
		{"1-harness", "step-000001", st.Phases[1].Harness}, {"cycle0", "step-000001", st.Phases[1].Harness},
	} {
		r := export(t, st.Dir, Options{Format: HF, Type: TypeF32, At: tc.at})
		path := "whale-tiny"
		if tc.folder != "" {
			path = filepath.Join(st.Dir, "weights", tc.folder)
		}
		if want := open(t, path).Weights().ID; r.Stored != want || r.Moment.Harness != tc.harness {
			t.Errorf("%s: got weights %s and harness %s, want %s and %s", tc.at, r.Stored, r.Moment.Harness, want, tc.harness)
		}
		if !strings.Contains(read(t, r, "README.md"), "not what the run ended with, but the pair at "+tc.at) {
			t.Errorf("%s: the card does not say that this is not the end", tc.at)
		}
	}
}

func TestUnfinishedRun(t *testing.T) {
	r := export(t, stopped.make(t), Options{Format: HF, Type: TypeF32})
	card := read(t, r, "README.md")
	if r.Finished || r.Moment.Steps == 0 || r.Moment.Name != recipe.MomentLatest || strings.Contains(card, "`final`") {
		t.Errorf("got %+v and the card\n%s", r, card)
	}
	for _, want := range []string{
		"**The run was not finished when this was exported**: this is the latest of it.", "no final table yet", "after 1 rollout step (the latest of the run, which was not finished)",
		"- The run was not finished: this is the latest pair that it had come to, and not what it ends with.",
	} {
		if !strings.Contains(card, want) {
			t.Errorf("the card lacks %q:\n%s", want, card)
		}
	}
	if same := export(t, stopped.make(t), Options{Format: HF, Type: TypeF32, At: recipe.MomentLatest}); same.Stored != r.Stored {
		t.Errorf("latest: got weights %s, want %s", same.Stored, r.Stored)
	}
	if _, err := Run(t.Context(), stopped.make(t), filepath.Join(t.TempDir(), "out"), Options{Format: HF, Type: TypeF32, At: recipe.MomentFinal}); err == nil || !strings.Contains(err.Error(), "the run is not finished") {
		t.Errorf("final: got %v", err)
	}
}

func TestRefuses(t *testing.T) {
	taken := t.TempDir()
	for _, tc := range []struct {
		what   string
		run    *fixture
		out    string
		o      Options
		option bool
		want   string
	}{
		{"an unknown format", &full, "", Options{Format: "onnx", Type: TypeF32}, true, `format: got "onnx", want one of [hf peft gguf]`},
		{"a type that the format lacks", &full, "", Options{Format: HF, Type: TypeF16}, true, `type: got "f16", want one of f32, bf16 for the format hf`},
		{"an adapter of all weights", &full, "", Options{Format: PEFT, Type: TypeF32}, true, "the run trains all weights"},
		{"an adapter before training", &adapter, "", Options{Format: PEFT, Type: TypeF32, At: "start"}, true, "at start no step was trained"},
		{"no such moment", &full, "", Options{Format: HF, Type: TypeF32, At: "cycle7"}, false, "there are start, 0-weight, 1-harness, cycle0, final, step-000000 to step-000001"},
		{"a place that is taken", &full, taken, Options{Format: HF, Type: TypeF32}, true, "is there already"},
	} {
		parent := t.TempDir()
		out := filepath.Join(parent, "out")
		if tc.out != "" {
			out = tc.out
		}
		_, err := Run(t.Context(), tc.run.make(t), out, tc.o)
		var option *OptionError
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.As(err, &option) != tc.option {
			t.Errorf("%s: got %v, want %s", tc.what, err, tc.want)
		}
		empty(t, tc.what, parent)
	}
	if _, err := Run(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "out"), Options{Format: HF, Type: TypeF32}); !errors.Is(err, store.ErrNotRun) {
		t.Errorf("a folder that is no run: got %v", err)
	}
}

// empty checks that a failed export left nothing.
func empty(t *testing.T, what, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("%s: it left %v (%v)", what, entries, err)
	}
}
