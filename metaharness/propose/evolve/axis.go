package evolve

import (
	"fmt"
	"slices"
)

// axis is a side of a harness that an edit changes and that evidence points to.
type axis string

const (
	axisTurns    axis = "turns"
	axisFormat   axis = "answer format"
	axisTools    axis = "tool use"
	axisBrevity  axis = "brevity"
	axisRecovery axis = "recovery"
	axisOther    axis = "other"
)

var axes = []axis{axisTurns, axisFormat, axisTools, axisBrevity, axisRecovery, axisOther}

// axisWords ties words in the names of parameters, constants and functions to axes; the first axis that has one wins.
var axisWords = []struct {
	axis  axis
	words []string
}{
	{axisTurns, []string{"turn", "round", "step", "attempt", "iteration"}},
	{axisFormat, []string{"done", "nudge", "final", "finish", "answer", "format", "stop", "last"}},
	{axisRecovery, []string{"error", "retry", "retrie", "trie", "recover", "fallback", "repair"}},
	{axisTools, []string{"act", "tool", "code", "fence", "lang", "which", "call", "query", "observe", "result"}},
	{axisBrevity, []string{"token", "clip", "char", "limit", "length", "width", "brief", "short", "trim"}},
}

func axisOf(name string) axis {
	words := tokens(name)
	for _, a := range axisWords {
		if slices.ContainsFunc(a.words, func(w string) bool { return slices.Contains(words, w) }) {
			return a.axis
		}
	}
	return axisOther
}

// weight says how much the evidence speaks for an axis. The constants are judgements: a share of 1 makes an axis about ten times as
// likely as one without any evidence.
func (e *evidence) weight(a axis) float64 {
	switch a {
	case axisTurns:
		return 0.25 + 3*e.outOfTurns + 0.5*e.atLimit*(0.3+e.unmet)
	case axisFormat:
		return 0.25 + (1.8*e.unmet+0.5*e.noAnswer)*(1-0.6*e.outOfTurns)
	case axisTools:
		return 0.25 + 1.5*max(0, e.noToolLift) + 0.4*e.noTool
	case axisBrevity:
		return 0.2 + 2*e.length
	case axisRecovery:
		return 0.1 + 1.5*e.toolError + e.program
	default:
		return 0.2
	}
}

// says puts the evidence for an axis into words.
func (e *evidence) says(a axis) string {
	percent := func(s float64) string {
		return fmt.Sprintf("%.0f%% of the %d episodes without reward", 100*s, e.failing)
	}
	switch {
	case e.failing == 0:
		return "no episode failed"
	case a == axisTurns && e.outOfTurns > 0:
		return percent(e.outOfTurns) + " ended right after a tool call whose result was never answered"
	case a == axisTurns && e.atLimit > 0:
		return percent(e.atLimit) + " used as many model calls as the program ever makes"
	case a == axisFormat && e.unmet > 0:
		return fmt.Sprintf("%s lack something that is asked for (most often: %s)", percent(e.unmet), e.reason)
	case a == axisTools && e.noTool > 0:
		return percent(e.noTool) + " used no tool"
	case a == axisBrevity && e.length > 0:
		return percent(e.length) + " had a reply cut at the token limit"
	case a == axisRecovery && e.toolError > 0:
		return percent(e.toolError) + " had a tool answer with an error"
	case a == axisRecovery && e.program > 0:
		return percent(e.program) + " failed by an error of the program"
	default:
		return fmt.Sprintf("%d of %d episodes were not rewarded (most often: %s)", e.failing, e.episodes, e.reason)
	}
}

// expects says what should follow if an edit along the axis is right.
func (a axis) expects() string {
	switch a {
	case axisTurns:
		return "more episodes reach an answer after their last tool result"
	case axisFormat:
		return "fewer replies are refused for what they lack"
	case axisTools:
		return "more episodes use a tool before they answer"
	case axisBrevity:
		return "fewer replies are cut, for fewer sampled tokens"
	case axisRecovery:
		return "fewer episodes end in an error that they could have mended"
	default:
		return "the score rises"
	}
}
