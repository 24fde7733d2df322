package chess

import (
	"context"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// The reasons of a verdict of 0. None of them says what the right move would have been.
const (
	ReasonNoMove     = "no move"
	ReasonUnfinished = "unfinished line"
	ReasonWrong      = "wrong move"
	ReasonIllegal    = "illegal move"
	ReasonFormat     = "no move in UCI"
)

// The behaviour measures of an episode.
const (
	MetricFormat     = "format"           // share of replies that led to a move in UCI
	MetricIllegal    = "illegal"          // illegal moves
	MetricFormatBad  = "format_errors"    // texts passed as a move that are none
	MetricFirstRight = "first_move_right" // 1 where the first move that was legal was right
	MetricProgress   = "progress"         // share of the solver's moves that were found
	MetricTurns      = "turns"            // model calls
	MetricCutOff     = "cut_off"          // 1 where any reply ran into its token limit
)

// verifierVersion changes with what the verifier accepts.
const verifierVersion = 1

// verifier plays the moves of an episode again (paper, section 2): every one of the solver's must be the line's.
type verifier struct {
	retries   Retries
	alternate bool
}

// ID hashes the version and the settings.
func (v *verifier) ID() whale.ID {
	return whale.HashOf("verifier/chess", struct {
		Version   int
		Retries   Retries
		Alternate bool
	}{verifierVersion, v.retries, v.alternate})
}

// Verify judges the moves that were made with the tool; what the replies say beside them does not count. The error is for an example whose
// reference cannot be played.
func (v *verifier) Verify(ctx context.Context, x whale.Example, e *whale.Episode) (whale.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return whale.Verdict{}, err
	}
	g, err := newGame(x, v.retries, v.alternate)
	if err != nil {
		return whale.Verdict{}, err
	}
	metrics := map[string]float64{
		MetricFormat: 0, MetricIllegal: 0, MetricFormatBad: 0, MetricFirstRight: 0, MetricProgress: 0, MetricTurns: float64(len(e.Calls)), MetricCutOff: 0,
	}
	for _, c := range e.Calls {
		if c.Completion.Finish == whale.FinishLength {
			metrics[MetricCutOff] = 1
		}
	}
	moving := map[whale.ReplyRef]bool{} // replies that led to a move in UCI
	moves := 0
	for _, call := range e.Tools {
		if call.Name != toolMove || g.done() || task.CheckArgs(tools()[0], call.Args) != "" {
			continue
		}
		t, err := g.play(moveText(call.Args))
		if err != nil {
			return whale.Verdict{}, err
		}
		switch t.mistake {
		case StatusFormat:
			metrics[MetricFormatBad]++
			continue
		case StatusIllegal:
			metrics[MetricIllegal]++
		default:
			if moves++; moves == 1 && t.right {
				metrics[MetricFirstRight] = 1
			}
		}
		moving[call.After] = true
	}
	if len(e.Calls) > 0 {
		metrics[MetricFormat] = float64(len(moving)) / float64(len(e.Calls))
	}
	metrics[MetricProgress] = g.progress()
	verdict := whale.Verdict{Metrics: metrics, Reason: reason(g, moves)}
	if g.status == StatusSolved {
		verdict.Reward = 1
	}
	return verdict, nil
}

func reason(g *game, moves int) string {
	switch g.status {
	case StatusSolved:
		return ""
	case StatusWrong:
		return ReasonWrong
	case StatusIllegal:
		return ReasonIllegal
	case StatusFormat:
		return ReasonFormat
	}
	if moves == 0 {
		return ReasonNoMove
	}
	return ReasonUnfinished
}
