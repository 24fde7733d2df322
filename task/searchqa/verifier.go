package searchqa

import (
	"context"
	"encoding/json"
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
	"github.com/seed-095d5d2b/whale/task/judge"
)

// The reasons of a verdict of 0. None of them says what the answer would have been.
const (
	ReasonNoReply = "no final reply"
	ReasonNoTag   = "no <answer> tag"
	ReasonEmpty   = "empty <answer> tag"
	ReasonWrong   = "wrong answer"
)

// answerTag holds the answer.
const answerTag = "answer"

// verifierVersion changes with what the verifier accepts.
const verifierVersion = 1

// verifier compares the last answer tag of the final reply with the references.
type verifier struct {
	judge *judge.Judge // nil = exact match
	id    whale.ID
}

func newVerifier(o VerifierOptions, j *judge.Judge) *verifier {
	var by whale.ID
	if o.Kind == VerifierJudge {
		by = o.Judge.ID()
	}
	return &verifier{judge: j, id: whale.HashOf("verifier/searchqa", struct {
		Version int
		Kind    string
		Judge   whale.ID
	}{verifierVersion, o.Kind, by})}
}

// ID hashes the version and who judges.
func (v *verifier) ID() whale.ID { return v.id }

// Verify gives 1 where the answer is right. The error is for an example without a usable reference, and for a context that ended.
func (v *verifier) Verify(ctx context.Context, x whale.Example, e *whale.Episode) (whale.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return whale.Verdict{}, err
	}
	refs := references(x)
	if len(refs) == 0 {
		return whale.Verdict{}, fmt.Errorf("searchqa: example %s: got a reference that is no JSON list of strings or empty, want one", x.ID)
	}
	d := whale.Verdict{Metrics: measure(refs, e)}
	text, ok := e.AnswerText()
	if !ok {
		d.Reason = ReasonNoReply
		return done(d), nil
	}
	got, ok := answer.LastTag(text, answerTag)
	if !ok {
		d.Reason = ReasonNoTag
		return done(d), nil
	}
	if got == "" {
		d.Reason = ReasonEmpty
		return done(d), nil
	}
	d.Metrics[MetricFormat] = 1
	return v.decide(ctx, x.View[viewQuestion], refs, got, d)
}

// references reads an example's answers; none where it has no usable ones.
func references(x whale.Example) []string {
	var list []string
	if json.Unmarshal(x.Answer, &list) != nil {
		return nil
	}
	return list
}
