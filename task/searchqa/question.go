package searchqa

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/rows"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

// The keys of a view and of Meta.
const (
	viewQuestion = "question"
	MetaKind     = "kind"     // world.OneHop or world.TwoHop, of generated questions
	MetaRelation = "relation" // what the last hop asks for, of generated questions
	MetaSource   = "source"   // the data set, as the row says, or the file
	MetaRow      = "row"      // where the question was read
)

// The bounds of a question.
const (
	maxQuestion = 10_000 // bytes
	maxAnswers  = 1000
	maxExamples = 10_000_000
)

// newExample makes an example whose ID is the hash of its normalised question: the same question has the same ID wherever it comes from.
func newExample(question string, answers []string, meta map[string]string) whale.Example {
	list, err := json.Marshal(answers)
	if err != nil {
		panic("searchqa: strings that JSON cannot express: " + err.Error()) // Marshal has no such strings
	}
	return whale.Example{
		ID:     string(whale.HashBytes("searchqa/example", []byte(task.Normalize(question)))),
		View:   map[string]string{viewQuestion: question},
		Answer: list,
		Meta:   meta,
	}
}

// ofWorld gives a generated question as an example.
func ofWorld(q world.Question) whale.Example {
	return newExample(q.Text, q.Answers, map[string]string{MetaKind: q.Kind, MetaRelation: q.Hops[len(q.Hops)-1].Relation})
}

// ofRow reads a row of a file.
func ofRow(r rows.Row, f FieldOptions) (whale.Example, error) {
	question, err := first(f.Question, r.Text)
	if err != nil {
		return whale.Example{}, fmt.Errorf("question: %w", err)
	}
	question = strings.TrimSpace(question)
	if question == "" || len(question) > maxQuestion || !utf8.ValidString(question) {
		return whale.Example{}, fmt.Errorf("question: got %d bytes, want 1 to %d of UTF-8", len(question), maxQuestion)
	}
	answers, err := first(f.Answers, r.Texts)
	if err != nil {
		return whale.Example{}, fmt.Errorf("answers: %w", err)
	}
	var kept []string
	for _, a := range answers {
		if a = strings.TrimSpace(a); a != "" { // "A" stays, a blood group, though nothing of it is left in the form that is compared
			kept = append(kept, a)
		}
	}
	if len(kept) == 0 || len(kept) > maxAnswers {
		return whale.Example{}, fmt.Errorf("answers: got %d of which %d are not empty, want 1 to %d", len(answers), len(kept), maxAnswers)
	}
	source, err := first(f.Source, r.Text)
	if err != nil {
		source = r.File()
	}
	return newExample(question, kept, map[string]string{MetaSource: source, MetaRow: strconv.FormatInt(r.Number(), 10)}), nil
}

// first gives what the first of the paths has. Where none has anything, the error is that of the first.
func first[T any](paths []string, get func(string) (T, error)) (T, error) {
	var none T
	err := errors.New("no path is given")
	for i, p := range paths {
		v, e := get(p)
		if e == nil {
			return v, nil
		}
		if i == 0 {
			err = e
		}
	}
	return none, err
}
