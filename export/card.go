package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/store"
)

// card writes README.md: what the export is, what it scored, and how it was made.
func (x *exporter) card() error {
	seen, err := countSeen(x.ctx, x.story.Dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	x.head(&b)
	x.facts(&b, seen)
	x.results(&b)
	x.use(&b)
	x.made(&b)
	x.limits(&b)
	config, err := x.story.Config.YAML()
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n## The config\n\nAs resolved, with every default; `config.yaml` holds the same.\n\n%s", fenced("yaml", string(config)))
	return x.file("README.md", []byte(b.String()))
}

func (x *exporter) head(b *strings.Builder) {
	library := map[Format]string{HF: "transformers", PEFT: "peft", GGUF: "llama.cpp"}[x.options.Format]
	c := x.story.Config
	fmt.Fprintf(b, "---\nlibrary_name: %s\ntags: [whale]\n---\n\n# %s\n\n", library, text(c.Name))
	what := map[Format]string{
		HF: "a language model as a Hugging Face folder", PEFT: "a LoRA adapter as a PEFT folder", GGUF: "a language model as a GGUF file",
	}[x.options.Format]
	fmt.Fprintf(b, "An agent: %s, and the harness program that it is run by (`%s`). Both came out of a run of whale, which fine-tunes a model on its own verified "+
		"rollouts and searches for a better harness for it. They belong together: the figures below are those of the pair.\n", what, filepath.ToSlash(x.result.HarnessFile))
	if !x.result.Finished {
		b.WriteString("\n**The run was not finished when this was exported**")
		if x.moment.Name == recipe.MomentLatest {
			b.WriteString(": this is the latest of it")
		}
		b.WriteString(".\n")
	}
}

func (x *exporter) facts(b *strings.Builder, seen map[string]seenExamples) {
	st, c := x.story, x.story.Config
	row := func(what, format string, args ...any) {
		fmt.Fprintf(b, "| %s | %s |\n", what, cell(fmt.Sprintf(format, args...)))
	}
	b.WriteString("\n## What it is\n\n| | |\n|---|---|\n")
	row("base model", "%s, weights `%s`", code(c.Policy.Model), st.Begin.Weights)
	row("weights", "`%s`, after %s (%s)", x.moment.Weights, english.Plural(x.moment.Steps, "rollout step", ""), x.when())
	if x.result.Stored != x.moment.Weights {
		row("weights as stored here", "`%s`", x.result.Stored)
	}
	row("stored as", "%s, %s", x.options.Format, x.options.Type)
	row("trained", "%s", trained(c))
	row("renderer", "chat template %s, `%s`", code(x.bundle.Renderer.Template().ID()), st.Begin.Renderer)
	sum := sha256.Sum256(x.program.Source)
	row("harness", "`%s`, id `%s`, SHA-256 `%s`", filepath.ToSlash(x.result.HarnessFile), x.moment.Harness, hex.EncodeToString(sum[:]))
	row("harness it began with", "id `%s`", st.Begin.Harness)
	row("task", "%s, id `%s`", c.Task.Kind, st.Begin.Task)
	row("method", "%s", c.Schedule.Method)
	row("schedule", "%s", schedule(c.Schedule))
	for _, s := range []struct{ purpose, what string }{
		{"weight", "training examples"}, {"search", "search examples"}, {"validation", "validation examples"}, {"test", "test examples"},
	} {
		if n := seen[s.purpose]; n.rollouts > 0 {
			row(s.what, "%d different, in %s", n.examples, english.Plural(n.rollouts, "rollout", ""))
		}
	}
	row("sampling", "temperature %g, top_p %g, top_k %d; at most %s and %s an episode", c.Sampling.Temperature, c.Sampling.TopP, c.Sampling.TopK, english.Plural(c.Limits.Tokens, "sampled token", ""), english.Plural(c.Limits.ModelCalls, "model call", ""))
}

func trained(c recipe.Config) string {
	if l := c.Weight.LoRA; l.Rank > 0 {
		return fmt.Sprintf("a LoRA adapter of rank %d, alpha %g, on %s", l.Rank, l.Alpha, strings.Join(l.Targets, ", "))
	}
	return "all weights"
}

func schedule(s recipe.Schedule) string {
	if len(s.Cycles) == 0 {
		return fmt.Sprintf("(E, I) = (%g, %d), %s in all", s.Epochs, s.Sessions, epochs(s.TotalEpochs))
	}
	var cycles []string
	for _, c := range s.Cycles {
		cycles = append(cycles, fmt.Sprintf("(%g, %d)", c.Epochs, c.Sessions))
	}
	return "(E, I) = " + strings.Join(cycles, ", ")
}

func epochs(n float64) string {
	if n == 1 {
		return "1 epoch"
	}
	return fmt.Sprintf("%g epochs", n)
}

// when says which moment of the run the export is of.
func (x *exporter) when() string {
	if x.moment.Name == recipe.MomentLatest {
		return "the latest of the run, which was not finished"
	}
	return fmt.Sprintf("`%s` of the run", x.moment.Name)
}

// use says what opens the export, and what it does not hold.
func (x *exporter) use(b *strings.Builder) {
	b.WriteString("\n## Use it\n\n")
	switch x.options.Format {
	case HF:
		fmt.Fprintf(b, "The folder opens by its path in whale and in transformers (`AutoModelForCausalLM`, `AutoTokenizer`): the architecture is %s.\n", code(string(x.bundle.Model.Config().Family())))
	case PEFT:
		b.WriteString("The folder opens by its path in whale, and in PEFT (`PeftModel.from_pretrained`) on the base that `adapter_config.json` names.\n")
	case GGUF:
		fmt.Fprintf(b, "`%s` opens by its path in whale, llama.cpp and what is built on it.\n", fileGGUF)
	}
	if x.bundle.ShippedTemplate() == "" {
		fmt.Fprintf(b, "\nThe model ships no Jinja chat template, so that `apply_chat_template` and chat modes of other programs do not know its format; whale does (%s). %s\n",
			code(x.bundle.Renderer.Template().ID()), x.promptLine())
	}
	b.WriteString("Other libraries read the names of control tokens in a text as those tokens, whale does not: do not put text of others into a prompt without care.\n")
	fmt.Fprintf(b, "\nThe harness runs in whale:\n\n%s", fenced("sh", "whale eval . --split "+string(x.story.Config.Evaluation.Split)+"   # this folder: its weights, harness, task and settings"))
	for _, n := range x.result.Notes {
		fmt.Fprintf(b, "\n%s\n", text(n))
	}
}

// promptLine shows whale-chat's format; other templates without a text of their own are described where they come from.
func (x *exporter) promptLine() string {
	if x.bundle.Renderer.Template().Name != "whale-chat" {
		return ""
	}
	return "A prompt is `<|system|>text<|end|><|user|>text<|end|><|assistant|>`, and a reply ends with `<|end|>`."
}

// seenExamples counts what a purpose saw.
type seenExamples struct{ examples, rollouts int }

// countSeen counts examples and rollouts by purpose, from the journal.
func countSeen(ctx context.Context, dir string) (map[string]seenExamples, error) {
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ids := map[string]map[string]struct{}{}
	out := map[string]seenExamples{}
	for row, err := range s.Rollouts(ctx, store.Filter{}) {
		if err != nil {
			return nil, err
		}
		if ids[row.Purpose] == nil {
			ids[row.Purpose] = map[string]struct{}{}
		}
		ids[row.Purpose][row.ExampleID] = struct{}{}
		n := out[row.Purpose]
		n.rollouts++
		n.examples = len(ids[row.Purpose])
		out[row.Purpose] = n
	}
	return out, nil
}

// text makes what comes from a run fit for a paragraph: one line without what a terminal or Markdown's HTML would obey.
func text(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '<':
			return '‹'
		case r == '>':
			return '›'
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsGraphic(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
	const most = 2000
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return s
}

// code is a name that comes from a run, as code.
func code(s string) string { return "`" + strings.ReplaceAll(text(s), "`", "'") + "`" }

// cell is a text in a table.
func cell(s string) string { return strings.ReplaceAll(text(s), "|", "\\|") }

// fenced is a block of code whose fence does not occur in it.
func fenced(language, body string) string {
	longest := 2
	for _, run := range strings.FieldsFunc(body, func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(run))
	}
	fence := strings.Repeat("`", longest+1)
	body = strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.TrimRight(body, "\n"))
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, body, fence)
}

// sortedKeys lists a map's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
