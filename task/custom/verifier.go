package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
	"github.com/seed-095d5d2b/whale/task/judge"
)

// Judge compares an answer with references as a language model sees it; *judge.Judge is one.
type Judge interface {
	Judge(ctx context.Context, question string, references []string, got string) (judge.Outcome, error)
}

// The reasons of a verdict of 0, beside those of schemas and commands. None of them says what the answer would have been.
const (
	ReasonNoReply = "no final reply"
	ReasonWrong   = "wrong answer"
)

// verifierVersion changes with what the verifiers accept.
const verifierVersion = 1

// verifier finds the answer in the final reply and decides about it.
type verifier struct {
	id     whale.ID
	find   func(reply string) (got, reason string) // a reason means that there is no answer
	decide func(ctx context.Context, j judged) (whale.Verdict, error)
}

// judged is what a decision is about.
type judged struct {
	example whale.Example
	ref     reference
	episode *whale.Episode
	reply   string // the whole final reply
	got     string // the answer in it
}

// ID hashes the kind, its settings, and the files that it reads.
func (v *verifier) ID() whale.ID { return v.id }

// Verify judges an episode. The error is the infrastructure's, that of a verifier command included.
func (v *verifier) Verify(ctx context.Context, x whale.Example, e *whale.Episode) (whale.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return whale.Verdict{}, err
	}
	j := judged{example: x, episode: e}
	if err := json.Unmarshal(x.Answer, &j.ref); err != nil {
		return whale.Verdict{}, fmt.Errorf("custom: example %s: its answer is no reference: %w", x.ID, err)
	}
	metrics := behaviour(e)
	no := func(reason string) (whale.Verdict, error) {
		return whale.Verdict{Reason: reason, Metrics: metrics}, nil
	}
	var ok bool
	if j.reply, ok = e.AnswerText(); !ok {
		return no(ReasonNoReply)
	}
	var reason string
	if j.got, reason = v.find(j.reply); reason != "" {
		return no(reason)
	}
	metrics[MetricFormat] = 1
	verdict, err := v.decide(ctx, j)
	if err != nil {
		return whale.Verdict{}, fmt.Errorf("custom: verifier: %w", err)
	}
	for name, value := range verdict.Metrics {
		metrics[name] = value
	}
	verdict.Metrics = metrics
	return verdict, nil
}

// The behaviour measures of an episode.
const (
	MetricFormat     = "format"      // 1 where an answer was found in the final reply
	MetricCutOff     = "cut_off"     // 1 where any reply ran into its token limit
	MetricToolUsed   = "tool_used"   // 1 where any tool was called
	MetricToolErrors = "tool_errors" // tool calls that gave an error
	MetricTurns      = "turns"       // model calls
	MetricExact      = "exact"       // 1 where exact match agrees, under a judge
	MetricFallback   = "fallback"    // 1 where exact match decided, because the judge gave no judgement
)

func behaviour(e *whale.Episode) map[string]float64 {
	m := map[string]float64{MetricFormat: 0, MetricCutOff: 0, MetricToolUsed: 0, MetricToolErrors: 0, MetricTurns: float64(len(e.Calls))}
	for _, c := range e.Calls {
		if c.Completion.Finish == whale.FinishLength {
			m[MetricCutOff] = 1
		}
	}
	for _, t := range e.Tools {
		m[MetricToolUsed] = 1
		if t.Result.Error != "" {
			m[MetricToolErrors]++
		}
	}
	return m
}

// finder gives what looks for the answer in a reply. It is made of a config that Validate accepts.
func (v VerifierConfig) finder() (func(string) (string, string), error) {
	switch v.Kind {
	case KindNumeric:
		return func(reply string) (string, string) {
			n, ok := lastNumber(reply)
			return n, unless(ok, "no number")
		}, nil
	case KindBoxed:
		return func(reply string) (string, string) {
			box, ok := answer.LastBox(answer.Tail(reply, v.TailChars), answer.Boxed, answer.Fbox)
			return box, unless(ok, `no \boxed{}`)
		}, nil
	case KindTag:
		return func(reply string) (string, string) {
			got, ok := answer.LastTag(reply, v.Tag)
			return got, unless(ok, "no <"+v.Tag+">")
		}, nil
	case KindRegex:
		expr, err := regexp.Compile(v.Pattern)
		if err != nil {
			return nil, err
		}
		return func(reply string) (string, string) {
			got, ok := answer.LastMatch(expr, reply)
			return got, unless(ok, "no match of the pattern")
		}, nil
	case KindJSONSchema:
		return func(reply string) (string, string) { return lastBlock(reply), "" }, nil
	}
	return func(reply string) (string, string) { return reply, "" }, nil
}

func unless(ok bool, reason string) string {
	if ok {
		return ""
	}
	return reason
}

// comparer gives the decision by comparing texts.
func comparer(compare string, j Judge) func(context.Context, judged) (whale.Verdict, error) {
	if compare == KindJudge {
		return func(ctx context.Context, x judged) (whale.Verdict, error) {
			if answer.Squad(x.got) == "" { // nothing to read: no model is needed
				right := matches(KindNormalised, x.got, x.ref.Texts)
				return whale.Verdict{Reward: one(right), Reason: unless(right, ReasonWrong), Metrics: map[string]float64{MetricExact: one(right)}}, nil
			}
			out, err := j.Judge(ctx, question(x.example.View), x.ref.Texts, x.got)
			if err != nil {
				return whale.Verdict{}, err
			}
			return whale.Verdict{
				Reward: one(out.Correct), Reason: unless(out.Correct, ReasonWrong),
				Metrics: map[string]float64{MetricExact: one(out.Exact), MetricFallback: one(out.Fallback)},
			}, nil
		}
	}
	return func(_ context.Context, x judged) (whale.Verdict, error) {
		right := matches(compare, x.got, x.ref.Texts)
		return whale.Verdict{Reward: one(right), Reason: unless(right, ReasonWrong)}, nil
	}
}

// matches compares an answer with references.
func matches(compare, got string, references []string) bool {
	if compare == CompareNone {
		return true
	}
	for _, r := range references {
		switch compare {
		case KindExact:
			if strings.TrimSpace(got) == strings.TrimSpace(r) {
				return true
			}
		case KindNormalised:
			// Of an answer such as "A+" or "---" nothing is left in that form: it is compared as it is, or every punctuation would be right.
			if form := answer.Squad(r); form != "" && form == answer.Squad(got) || form == "" && strings.TrimSpace(got) == strings.TrimSpace(r) {
				return true
			}
		case KindNumeric:
			if answer.Numeric(got, r) {
				return true
			}
		}
	}
	return false
}

// usable reports references that an empty answer would meet.
func usable(references []string) error {
	for _, r := range references {
		if strings.TrimSpace(r) == "" {
			return fmt.Errorf("answer: got an empty reference answer")
		}
	}
	return nil
}

// question is what a judge is told of an example: its one field, or all of them by name.
func question(view map[string]string) string {
	if len(view) == 1 {
		for _, text := range view {
			return text
		}
	}
	data, err := json.Marshal(view)
	if err != nil {
		panic("custom: texts that JSON cannot express: " + err.Error()) // Marshal has no such texts
	}
	return string(data)
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
