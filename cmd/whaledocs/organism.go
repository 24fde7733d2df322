package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/seed-095d5d2b/whale/organism"
	"github.com/seed-095d5d2b/whale/policy/local"
)

const tiny = "whale-tiny"

// shapeBlock says what the embedded model is.
func shapeBlock(src source) (string, error) {
	b, err := local.Open(tiny)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(filepath.Join(src.root, "policy/local/models", tiny, "model.safetensors"))
	if err != nil {
		return "", err
	}
	c := b.Model.Config()
	var t strings.Builder
	t.WriteString("| | |\n|---|---|\n")
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&t, "| %s | %s |\n", name, fmt.Sprintf(format, args...))
	}
	row("weights", "`%s`", b.Weights().ID)
	row("chat template", "%s; renderer `%s`", local.TemplateName, b.Renderer.ID())
	row("parameters", "%d", b.Model.NumParams())
	row("layers, width", "%d, %d", c.Layers, c.Dim)
	row("attention", "%d query heads, %d key and value heads, %d wide; rotary base %g", c.Heads, c.KVHeads, c.HeadDim, c.RopeTheta)
	row("feed-forward", "SwiGLU, %d wide", c.FFN)
	row("context", "%d tokens, prompt and completion together", c.MaxSeq)
	row("vocabulary", "%d tokens: byte-level BPE, each digit a token of its own, %d control tokens", b.Tokenizer.Vocab(), len(local.Specials()))
	row("file", "%d bytes, bfloat16; float32 in memory", info.Size())
	return t.String(), nil
}

// weaknessesBlock lists the planted behaviours with their probabilities.
func weaknessesBlock(src source) (string, error) {
	r, err := organism.ParseRecipe(tiny, organism.TinyRecipe())
	if err != nil {
		return "", err
	}
	rows, err := recipeRows(src.root, "", reflect.ValueOf(r.Weaknesses))
	if err != nil {
		return "", err
	}
	return "| key | probability | behaviour |\n|---|---|---|\n" + rows, nil
}

// recipeBlock lists the other numbers of the recipe.
func recipeBlock(src source) (string, error) {
	r, err := organism.ParseRecipe(tiny, organism.TinyRecipe())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| `seed` | %d | of problems, transcripts and the first weights |\n", r.Seed)
	for _, s := range []struct {
		key   string
		value any
	}{{"tokenizer.", r.Tokenizer}, {"corpus.", r.Corpus}, {"training.", r.Training}} {
		rows, err := recipeRows(src.root, s.key, reflect.ValueOf(s.value))
		if err != nil {
			return "", err
		}
		b.WriteString(rows)
	}
	return b.String(), nil
}

// recipeNotes are for keys whose fields have no comment.
var recipeNotes = map[string]string{
	"training.steps":         "of the optimiser",
	"training.learning_rate": "at its peak",
	"training.weight_decay":  "per unit of learning rate; norms are not decayed",
	"training.clip_norm":     "largest global norm of a gradient",
}

func recipeRows(root, prefix string, v reflect.Value) (string, error) {
	doc, err := newComments(root).of(v.Type())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for f, value := range v.Fields() {
		meaning := doc.fields[f.Name]
		if meaning == "" {
			meaning = recipeNotes[prefix+f.Tag.Get("yaml")]
		}
		fmt.Fprintf(&b, "| `%s%s` | %v | %s |\n", prefix, f.Tag.Get("yaml"), value.Interface(), cell(meaning))
	}
	return b.String(), nil
}
