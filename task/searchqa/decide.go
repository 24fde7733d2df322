package searchqa

import (
	"context"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
)

// The behaviour measures of an episode. A measure that does not apply is left out, so that means are over the episodes where it does.
const (
	MetricFormat       = "format"        // 1 where the final reply has an answer tag with something in it
	MetricSearches     = "searches"      // searches that gave a result
	MetricSearchErrors = "search_errors" // tool calls that gave an error
	MetricHit          = "hit"           // 1 where a passage that was found holds a reference
	MetricShown        = "shown"         // of episodes with a hit: 1 where a model call was shown a reference
	MetricExtracted    = "extracted"     // of episodes with a hit: the reward
	MetricCutOff       = "cut_off"       // 1 where any reply ran into its token limit
	MetricTurns        = "turns"         // model calls

	MetricExact         = "exact"          // with a judge, of judged answers: 1 where exact match says so
	MetricJudgeDisagree = "judge_disagree" // the same: 1 where the judge contradicts exact match
	MetricJudgeFallback = "judge_fallback" // the same: 1 where the judge gave no judgement, and exact match decided
)

// decide compares an answer with the references.
func (v *verifier) decide(ctx context.Context, question string, refs []string, got string, d whale.Verdict) (whale.Verdict, error) {
	right := false
	if v.judge == nil {
		right = answer.ExactMatch(got, refs)
	} else {
		o, err := v.judge.Judge(ctx, question, refs, got)
		if err != nil {
			return whale.Verdict{}, err
		}
		right = o.Correct
		d.Metrics[MetricExact] = one(o.Exact)
		d.Metrics[MetricJudgeDisagree] = one(o.Correct != o.Exact)
		d.Metrics[MetricJudgeFallback] = one(o.Fallback)
	}
	d.Reward = one(right)
	if !right {
		d.Reason = ReasonWrong
	}
	return done(d), nil
}

// done completes a verdict.
func done(d whale.Verdict) whale.Verdict {
	if d.Metrics[MetricHit] == 1 {
		d.Metrics[MetricExtracted] = d.Reward
	}
	return d
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// measure looks at what an episode did, whatever it answered.
func measure(refs []string, e *whale.Episode) map[string]float64 {
	m := map[string]float64{
		MetricFormat: 0, MetricSearches: 0, MetricSearchErrors: 0, MetricHit: 0, MetricCutOff: 0, MetricTurns: float64(len(e.Calls)),
	}
	forms := make([]string, 0, len(refs))
	for _, r := range refs {
		if f := answer.Squad(r); f != "" {
			forms = append(forms, " "+f+" ")
		}
	}
	for _, t := range e.Tools {
		switch {
		case t.Result.Error != "":
			m[MetricSearchErrors]++
		case t.Name == toolSearch:
			m[MetricSearches]++
			if m[MetricHit] == 0 && holds(t.Result.Text, forms) {
				m[MetricHit] = 1
			}
		}
	}
	shown := false
	for _, c := range e.Calls {
		if c.Completion.Finish == whale.FinishLength {
			m[MetricCutOff] = 1
		}
	}
	if m[MetricHit] == 1 {
		for i := len(e.Calls) - 1; i >= 0 && !shown; i-- { // the last call has seen the most
			shown = shows(e.Calls[i].Messages, e.View[viewQuestion], forms)
		}
		m[MetricShown] = one(shown)
	}
	return m
}

// shows says whether a reference stands in what a harness wrote to the model, besides the question.
func shows(messages []whale.Message, question string, forms []string) bool {
	for _, m := range messages {
		if m.Reply != 0 {
			continue
		}
		text := m.Content
		if question != "" {
			text = strings.ReplaceAll(text, question, "\n")
		}
		if holds(text, forms) {
			return true
		}
	}
	return false
}

// holds says whether a text holds any of the forms as whole words.
func holds(text string, forms []string) bool {
	text = " " + answer.Squad(text) + " "
	for _, f := range forms {
		if strings.Contains(text, f) {
			return true
		}
	}
	return false
}
