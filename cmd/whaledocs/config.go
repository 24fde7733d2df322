package main

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/seed-095d5d2b/whale/recipe"
)

// configKey is one key of the config that has a value.
type configKey struct {
	path, meaning string
	value         reflect.Value
}

// configSection is a struct of the config: its own keys, and what its type's comment says.
type configSection struct {
	path, about string
	keys        []configKey
}

// notes are for keys whose fields have no comment, or one that speaks to programmers.
var notes = map[string]string{
	"name":                                      "of the run: its folder is runs/NAME",
	"seed":                                      "decides everything random in the run: the order of examples, sampling, the proposer",
	"sampling.temperature":                      "0 takes the likeliest token",
	"sampling.top_p":                            "1 = off",
	"task.math.source":                          "where problems come from: the generator, or files",
	"task.math.generator.seed":                  "of the problems; not the run's",
	"task.math.generator.counts.train":          "problems of weight phases (D_weight)",
	"task.math.generator.counts.search":         "problems of harness phases (D_harness)",
	"task.math.generator.counts.validation":     "problems of the curve beside test, by which a pair is chosen, and of `whale diagnose`; no phase uses them",
	"task.math.generator.counts.test":           "problems of curves and of the final table",
	"task.math.calculator.wall_seconds":         "of one call",
	"task.searchqa.generator.counts.validation": "of the curve beside test, by which a pair is chosen, and of `whale diagnose`; no phase uses them",
	"task.chess.generator.counts.validation":    "of the curve beside test, by which a pair is chosen, and of `whale diagnose`; no phase uses them",
	"task.counts.validation":                    "examples of the curve beside test, by which a pair is chosen; no phase uses them; 0 = nothing is said",
	"schedule.method":                           "what is alternated, and which half is left alone; [recipe.md](recipe.md#methods) has a table",
	"search.selection.accept":                   "argmax takes the best score, as the paper does; paired takes only what a paired test finds better",
	"search.selection.test":                     "of paired acceptance: exact McNemar, or the lower bound of a paired bootstrap",
	"weight.optimizer.beta1":                    "decay of the first moment",
	"weight.optimizer.beta2":                    "decay of the second moment",
	"weight.optimizer.eps":                      "added to the root of the second moment",
	"weight.optimizer.weight_decay":             "per unit of learning rate, decoupled; norms are not decayed",
	"weight.optimizer.clip_norm":                "largest global norm of a gradient; 0 = no clipping",
	"snapshots.last":                            "how many of the latest steps keep their weights",
}

func configPage(src source) (string, error) {
	sections, err := configSections(src.root)
	if err != nil {
		return "", err
	}
	defaults, err := recipe.Default().YAML()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# The config\n\nA run is decided by one YAML file. Keys that it leaves out have their defaults; an unknown key, a key given twice, a key without\n" +
		"a value and a value of another type are errors with line and column. Relative paths (`harness`, `policy.model`, `task.math.files`) are\n" +
		"relative to the file's folder. The run directory holds the config as resolved, with every default written out.\n\n" +
		"In the comments of `weight`, numbers in parentheses are the paper's settings.\n")
	for _, s := range sections {
		if len(s.keys) == 0 {
			continue
		}
		title := s.path
		if title == "" {
			title = "The run"
		}
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if s.about != "" {
			fmt.Fprintf(&b, "%s\n\n", s.about)
		}
		b.WriteString("| key | default | accepted | meaning |\n|---|---|---|---|\n")
		for _, k := range s.keys {
			want, err := accepted(k)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", k.path, defaultText(k.value), cell(want), cell(k.meaning))
		}
	}
	fmt.Fprintf(&b, "\n## All defaults\n\n```yaml\n%s```\n", defaults)
	return b.String(), nil
}

// configSections walks the config's type in the order of its fields.
func configSections(root string) ([]configSection, error) {
	w := walker{comments: newComments(root)}
	err := w.walk("", reflect.ValueOf(recipe.Default()))
	return w.sections, err
}

type walker struct {
	comments *comments
	sections []configSection
}

func (w *walker) walk(path string, v reflect.Value) error {
	doc, err := w.comments.of(v.Type())
	if err != nil {
		return err
	}
	at := len(w.sections)
	w.sections = append(w.sections, configSection{path: path, about: about(path, v.Type().Name(), doc.doc)})
	return w.fields(path, v, doc, at)
}

func (w *walker) fields(path string, v reflect.Value, doc structDoc, at int) error {
	var missing []error
	for f, field := range v.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if options == "inline" {
			inner, err := w.comments.of(f.Type)
			if err != nil {
				return err
			}
			if err := w.fields(path, field, inner, at); err != nil {
				return err
			}
			continue
		}
		key := strings.TrimPrefix(path+"."+name, ".")
		if f.Type.Kind() == reflect.Struct {
			if err := w.walk(key, field); err != nil {
				missing = append(missing, err)
			}
			continue
		}
		meaning, ok := notes[key]
		if !ok {
			meaning = strings.TrimPrefix(doc.fields[f.Name], f.Name+" is ")
		}
		if meaning == "" {
			missing = append(missing, fmt.Errorf("key %s: the field %s.%s has no comment that says what it means", key, v.Type(), f.Name))
		}
		w.sections[at].keys = append(w.sections[at].keys, configKey{path: key, meaning: meaning, value: field})
	}
	return errors.Join(missing...)
}

// about is the first sentence of a type's comment, said of its key.
func about(path, typeName, doc string) string {
	if path == "" {
		return ""
	}
	rest, ok := strings.CutPrefix(firstSentence(doc), typeName+" ")
	if !ok {
		return firstSentence(doc)
	}
	if verb, _, _ := strings.Cut(rest, " "); strings.HasSuffix(verb, "s") { // is, says, decides
		return "`" + path + "` " + rest
	}
	return "The keys of `" + path + "` " + rest
}

func defaultText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Map:
		return "{}"
	case reflect.String:
		return v.String()
	case reflect.Slice:
		return "[" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(v.Interface()), "[]")), ", ") + "]"
	}
	return fmt.Sprint(v.Interface())
}

// accepted asks the config's own checks what they want, by giving them what they cannot want.
func accepted(k configKey) (string, error) {
	var probes []string
	otherwise := ""
	switch k.value.Kind() {
	case reflect.Bool:
		return "true or false", nil
	case reflect.Map:
		if k.value.Type().Elem().Elem().Kind() == reflect.String {
			return "for train, search, validation and test each a list of paths", nil
		}
		return "for train, search, validation and test each a list of {path, count}", nil
	case reflect.String:
		probes, otherwise = []string{`"?"`}, "text"
	case reflect.Slice:
		if k.value.Type().Elem().Kind() == reflect.Struct {
			return acceptedList(k)
		}
		probes, otherwise = []string{`["?"]`}, "a list of texts"
	case reflect.Uint64:
		probes, otherwise = []string{"0", "18446744073709551615"}, "0 to 2^64-1"
	case reflect.Int, reflect.Int64, reflect.Float64:
		probes = []string{"-1", "1000000000000000000"}
	default:
		return "", fmt.Errorf("key %s: got a value of kind %s, which has no rule here", k.path, k.value.Kind())
	}
	for _, p := range probes {
		if want, err := wanted(k.path, p, k.path+":", k.path+"[0]:"); err != nil || want != "" {
			return want, err
		}
	}
	if otherwise == "" {
		return "", fmt.Errorf("key %s: its value is not checked", k.path)
	}
	return otherwise, nil
}

// acceptedList says what the items of a list may be, each of which is a group of numbers.
func acceptedList(k configKey) (string, error) {
	var keys []string
	for f := range k.value.Type().Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		want, err := wanted(k.path, "[{"+name+": -1}]", k.path+"[0]."+name+":")
		if err != nil {
			return "", err
		}
		if want == "" {
			return "", fmt.Errorf("key %s[0].%s: its value is not checked", k.path, name)
		}
		keys = append(keys, name+": "+want)
	}
	return "a list of {" + strings.Join(keys, ", ") + "}", nil
}

// wanted gives a key a value, as YAML, and returns what the error says is wanted; empty where there is none. The error must name the key in
// one of the ways that are given.
func wanted(path, value string, names ...string) (string, error) {
	text, err := probe(path, value)
	if err != nil {
		return "", fmt.Errorf("key %s: %w", path, err)
	}
	if _, err = recipe.ParseConfig("", text); err == nil {
		return "", nil
	}
	_, want, ok := strings.Cut(err.Error(), ", want ")
	for _, name := range names {
		if ok && strings.Contains(err.Error(), name) {
			return exponent.ReplaceAllStringFunc(want, plain), nil
		}
	}
	return "", fmt.Errorf("key %s: %s: got the error %q, want one that says what is wanted", path, value, err)
}

var exponent = regexp.MustCompile(`[0-9][0-9.]*e\+?[0-9]+`)

// plain writes a number without its exponent.
func plain(number string) string {
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// contexts are what a section needs beside a key of its own for its values to be looked at. The longest prefix of a key counts.
var contexts = map[string]string{
	"":                              "{}",
	"weight.grpo":                   "weight: {kind: grpo}",
	"task.math.files":               "task: {math: {source: files}}",
	"task.math.python":              "task: {math: {tool: python}}",
	"task.math.sandbox_fusion":      "task: {math: {tool: sandbox_fusion, sandbox_fusion: {url: 'http://127.0.0.1:1'}}}",
	"task.searchqa":                 "task: {kind: searchqa}",
	"task.searchqa.files":           "task: {kind: searchqa, searchqa: {source: files}}",
	"task.searchqa.retrieval.http":  "task: {kind: searchqa, searchqa: {source: files, files: {train: [{path: a.jsonl}], search: [{path: b.jsonl}], test: [{path: c.jsonl}]}, retrieval: {kind: http, http: {endpoints: ['http://127.0.0.1:1'], corpus: c}}}}",
	"task.searchqa.retrieval.index": "task: {kind: searchqa, searchqa: {source: files, files: {train: [{path: a.jsonl}], search: [{path: b.jsonl}], test: [{path: c.jsonl}]}, retrieval: {kind: index}}}",
	"task.searchqa.verifier.judge":  "task: {kind: searchqa, searchqa: {verifier: {kind: judge, judge: {base_url: 'http://127.0.0.1:1/v1', model: m}}}}",
	"task.chess":                    "task: {kind: chess}",
	"task.chess.lichess":            "task: {kind: chess, chess: {source: lichess, lichess: {files: [a.csv]}}}",
	"task.custom":                   "task: {kind: custom}",
}

// probe is a config in which one key has a value, as YAML.
func probe(path, value string) ([]byte, error) {
	longest := ""
	for prefix := range contexts {
		if strings.HasPrefix(path+".", prefix+".") && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(contexts[longest]), &config); err != nil {
		return nil, err
	}
	var v any
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		return nil, err
	}
	if config == nil {
		config = map[string]any{}
	}
	at := config
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		inner, ok := at[k].(map[string]any)
		if !ok {
			inner = map[string]any{}
			at[k] = inner
		}
		at = inner
	}
	at[keys[len(keys)-1]] = v
	return yaml.Marshal(config)
}
