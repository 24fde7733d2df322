package math

import (
	"context"
	"encoding/json"
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
)

// The kinds of verifiers.
const (
	VerifierStrict  = "strict"  // the last \boxed{…} equals the reference, character by character; integers with or without leading zeros
	VerifierNumeric = "numeric" // the last \boxed{…} or \fbox{…} is the same number, however it is written (package answer)
)

// VerifierOptions are the settings of the verifier.
type VerifierOptions struct {
	Kind string `json:"kind" yaml:"kind"` // strict, or numeric; "" = strict
	// TailChars is how near the end the box must be: it has to begin within that many last characters. 0 = anywhere.
	TailChars int `json:"tail_chars" yaml:"tail_chars"`
}

// Validate reports options out of range.
func (o VerifierOptions) Validate() error {
	if o.TailChars < 0 {
		return fmt.Errorf("verifier.tail_chars: got %d, want 0 (anywhere) or more", o.TailChars)
	}
	if o.Kind != "" && o.Kind != VerifierStrict && o.Kind != VerifierNumeric {
		return fmt.Errorf("verifier.kind: got %q, want %q or %q", o.Kind, VerifierStrict, VerifierNumeric)
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

// verifier compares the last box of the final reply with the reference (paper section 2, Math).
type verifier struct {
	options VerifierOptions
}

// NewVerifier gives a \boxed{} verifier. It judges the answer of an episode alone; whether the episode broke a limit or
// a rule is for the caller to see.
func NewVerifier(o VerifierOptions) (whale.Verifier, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &verifier{options: o}, nil
}

func (v *verifier) numeric() bool { return v.options.Kind == VerifierNumeric }

// ID hashes the version and the settings. The strict verifier has the ID that it had when it was the only one.
func (v *verifier) ID() whale.ID {
	if v.numeric() {
		return whale.HashOf("verifier/math/numeric", struct{ Version, TailChars int }{verifierVersion, v.options.TailChars})
	}
	type strict struct {
		TailChars int `json:"tail_chars"`
	}
	return whale.HashOf("verifier/math", struct {
		Version int
		Options strict
	}{verifierVersion, strict{v.options.TailChars}})
}

// right compares the content of a box with the reference.
func (v *verifier) right(box, reference string) bool {
	if v.numeric() {
		return answer.Numeric(box, reference)
	}
	return answer.Canonical(box) == answer.Canonical(reference)
}

// box finds the box.
func (v *verifier) box(text string) (string, bool) {
	text = answer.Tail(text, v.options.TailChars)
	if v.numeric() {
		return answer.LastBox(text, answer.Boxed, answer.Fbox)
	}
	return answer.LastBox(text)
}

// Verify gives 1 where the answer is right. The error is for an example without a usable reference.
func (v *verifier) Verify(ctx context.Context, x whale.Example, e *whale.Episode) (whale.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return whale.Verdict{}, err
	}
	var reference string
	if err := json.Unmarshal(x.Answer, &reference); err != nil || answer.Canonical(reference) == "" {
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
	box, ok := v.box(text)
	if !ok {
		return verdict(0, ReasonNoBox)
	}
	metrics[MetricBox] = 1
	if !v.right(box, reference) {
		return verdict(0, ReasonWrong)
	}
	return verdict(1, "")
}

// The behaviour measures of an episode.
const (
	MetricBox        = "box"         // the format: 1 where the final reply has a box (within the tail)
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
