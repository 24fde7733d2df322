package math

import (
	"context"
	"encoding/json"
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
)

// VerifierOptions are the settings of the verifier.
type VerifierOptions struct {
	// TailChars is how near the end the box must be: it has to begin within that many last characters. 0 = anywhere.
	TailChars int `json:"tail_chars" yaml:"tail_chars"`
}

// Validate reports options out of range.
func (o VerifierOptions) Validate() error {
	if o.TailChars < 0 {
		return fmt.Errorf("verifier.tail_chars: got %d, want 0 (anywhere) or more", o.TailChars)
	}
	return nil
}

// The reasons of a verdict of 0. None of them says what the answer would have been.
const (
	ReasonNoReply = "no final reply"
	ReasonNoBox   = `no \boxed{}`
	ReasonWrong   = "wrong answer"
)

// verifierVersion changes with what the verifier accepts.
const verifierVersion = 1

// verifier compares the last box of the final reply with the reference, strictly (paper section 2, Math).
type verifier struct {
	options VerifierOptions
}

// NewVerifier gives the strict \boxed{} verifier. It judges the answer of an episode alone; whether the episode broke a limit or
// a rule is for the caller to see.
func NewVerifier(o VerifierOptions) (whale.Verifier, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &verifier{options: o}, nil
}

// ID hashes the version and the settings.
func (v *verifier) ID() whale.ID {
	return whale.HashOf("verifier/math", struct {
		Version int
		Options VerifierOptions
	}{verifierVersion, v.options})
}

// Verify gives 1 where the answer is right. The error is for an example without a usable reference.
func (v *verifier) Verify(ctx context.Context, x whale.Example, e *whale.Episode) (whale.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return whale.Verdict{}, err
	}
	var reference string
	if err := json.Unmarshal(x.Answer, &reference); err != nil || canonical(reference) == "" {
		return whale.Verdict{}, fmt.Errorf("math: example %s: got a reference that is no JSON string or empty, want a string", x.ID)
	}
	metrics := behaviour(e)
	verdict := func(reward float64, reason string) (whale.Verdict, error) {
		return whale.Verdict{Reward: reward, Reason: reason, Metrics: metrics}, nil
	}
	text, ok := e.AnswerText()
	if !ok {
		return verdict(0, ReasonNoReply)
	}
	box, ok := lastBox(tail(text, v.options.TailChars))
	if !ok {
		return verdict(0, ReasonNoBox)
	}
	metrics[MetricBox] = 1
	if canonical(box) != canonical(reference) {
		return verdict(0, ReasonWrong)
	}
	return verdict(1, "")
}

// The behaviour measures of an episode.
const (
	MetricBox        = "box"         // 1 where the final reply has a box (within the tail)
	MetricCutOff     = "cut_off"     // 1 where any reply ran into its token limit
	MetricToolUsed   = "tool_used"   // 1 where any tool was called
	MetricToolErrors = "tool_errors" // tool calls that gave an error
	MetricTurns      = "turns"       // model calls
)

func behaviour(e *whale.Episode) map[string]float64 {
	m := map[string]float64{MetricBox: 0, MetricCutOff: 0, MetricToolUsed: 0, MetricToolErrors: 0, MetricTurns: float64(len(e.Calls))}
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
