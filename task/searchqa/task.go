package searchqa

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/judge"
	"github.com/seed-095d5d2b/whale/task/searchqa/bm25"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
	"github.com/seed-095d5d2b/whale/task/searchqa/retriever"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

// Task is the question answering task: questions by split, the search, the verifier.
type Task struct {
	id        whale.ID
	config    Config
	examples  map[whale.Split][]whale.Example
	notes     []string
	retriever Retriever
	judge     *judge.Judge
	verifier  *verifier
}

var _ whale.Task = (*Task)(nil)

// New makes the task: it generates or reads every example and opens what is searched. asker is who judges; nil where the configuration asks for
// exact match. Close the task.
func New(ctx context.Context, c Config, asker judge.Asker) (t *Task, err error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("searchqa: %w", err)
	}
	t = &Task{config: c, examples: make(map[whale.Split][]whale.Example)}
	defer func() {
		if err != nil {
			t.Close()
			t, err = nil, fmt.Errorf("searchqa: %w", err)
		}
	}()
	if c.Source == SourceFiles {
		err = t.load(ctx)
	} else {
		err = t.generate(ctx)
	}
	if err != nil {
		return t, err
	}
	if c.Verifier.Kind == VerifierJudge {
		if t.judge, err = judge.New(c.Verifier.Judge, asker); err != nil {
			return t, fmt.Errorf("verifier.%w", err)
		}
	}
	t.verifier = newVerifier(c.Verifier, t.judge)
	t.id = t.hash()
	return t, nil
}

// generate makes a world, and an index of its articles.
func (t *Task) generate(ctx context.Context) error {
	w, err := world.Generate(t.config.Generator)
	if err != nil {
		return err
	}
	for _, s := range splits() {
		for _, q := range w.Questions[s] {
			t.examples[s] = append(t.examples[s], ofWorld(q))
		}
	}
	index, err := bm25.New(ctx, Passages(w.Articles), t.config.Retrieval.Analyzer)
	if err != nil {
		return err
	}
	t.retriever = index
	return nil
}

// Passages gives articles as what is searched for.
func Passages(articles []world.Article) []corpus.Passage {
	out := make([]corpus.Passage, len(articles))
	for i, a := range articles {
		out[i] = corpus.Passage{ID: a.ID, Title: a.Title, Text: a.Text}
	}
	return out
}

// load reads the questions of files, and opens who searches for their answers.
func (t *Task) load(ctx context.Context) (err error) {
	if t.examples, t.notes, err = draw(ctx, t.config); err != nil {
		return err
	}
	if t.config.Retrieval.Kind == RetrievalIndex {
		index, err := bm25.Open(t.config.Retrieval.Index)
		if err != nil {
			return fmt.Errorf("retrieval.index: %w", err)
		}
		t.retriever = index
		return nil
	}
	client, err := retriever.New(t.config.Retrieval.HTTP)
	if err != nil {
		return fmt.Errorf("retrieval.http.%w", err)
	}
	t.retriever = client
	return nil
}

// hash leaves out what the examples are called (Meta): a renamed file is the same task.
func (t *Task) hash() whale.ID {
	type content struct {
		ID     string
		View   map[string]string
		Answer json.RawMessage
	}
	examples := make(map[whale.Split][]content, len(t.examples))
	for s, list := range t.examples {
		for _, x := range list {
			examples[s] = append(examples[s], content{x.ID, x.View, x.Answer})
		}
	}
	return whale.HashOf("task/searchqa", struct {
		Version   int
		Examples  map[whale.Split][]content
		Retriever whale.ID
		Search    SearchOptions
		Tools     []whale.ToolSpec
		Verifier  whale.ID
	}{1, examples, t.retriever.ID(), t.config.Search, []whale.ToolSpec{t.config.Search.tool()}, t.verifier.ID()})
}

// ID hashes every example with its answers, what is searched, the tool and the verifier.
func (t *Task) ID() whale.ID { return t.id }

// Name is "searchqa".
func (t *Task) Name() string { return "searchqa" }

// About tells an agent or a proposer what the task is.
func (t *Task) About() string {
	o := t.config.Search
	compared := "compared with the references without regard to case, punctuation and the words a, an, the"
	if t.judge != nil {
		compared = "compared with the references by a judge, who accepts other wordings of the same answer"
	}
	return strings.Join([]string{
		"Each example is a question: task.question is its text. Some questions need the result of one search for the next.",
		fmt.Sprintf(`Tool: env.call("%s", %s = …, %s = …, %s = …) finds passages: result.text has them one a paragraph, "title: text"; result.data is a list of {id, title, text, score}, best first. `+
			"%s is at most %d; %d where absent. %s cuts each passage's text; at most %d.",
			toolSearch, argQuery, argTopK, argMaxChars, argTopK, o.MaxTopK, o.TopK, argMaxChars, o.PassageChars),
		fmt.Sprintf("The answer is the content of the last <%s>…</%s> in the final reply, %s; without the tag the answer is wrong.", answerTag, answerTag, compared),
	}, "\n")
}

// Examples gives the examples of a split, in a fixed order; none where the configuration gives the split none.
func (t *Task) Examples(s whale.Split) ([]whale.Example, error) {
	if !slices.Contains(splits(), s) {
		return nil, fmt.Errorf("searchqa: got split %q, want one of %v", s, splits())
	}
	return slices.Clone(t.examples[s]), nil
}

// Notes tells people, a line each, what they may not expect of the task's data; nothing where there is nothing to tell.
func (t *Task) Notes() []string { return slices.Clone(t.notes) }

// Judged tells what the judge has done so far, and whether there is one.
func (t *Task) Judged() (judge.Stats, bool) {
	if t.judge == nil {
		return judge.Stats{}, false
	}
	return t.judge.Stats(), true
}

// Retriever gives what searches. It is the task's to close.
func (t *Task) Retriever() Retriever { return t.retriever }

// NewEnv gives an episode's world. Nothing in it is random.
func (t *Task) NewEnv(_ context.Context, _ whale.Example, _ uint32) (whale.Env, error) {
	return &env{retriever: t.retriever, options: t.config.Search}, nil
}

// Verifier gives the verifier.
func (t *Task) Verifier() whale.Verifier { return t.verifier }

// Close frees the index, connections and the judge's cache. No episode may be under way.
func (t *Task) Close() error {
	var errs []error
	if t.retriever != nil {
		errs = append(errs, t.retriever.Close())
	}
	if t.judge != nil {
		errs = append(errs, t.judge.Close())
	}
	t.retriever, t.judge = nil, nil
	return errors.Join(errs...)
}
