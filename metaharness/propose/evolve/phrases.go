package evolve

import (
	"slices"
	"strings"
)

// phrase is a sentence that can be said to a model.
type phrase struct {
	text   string
	axis   axis
	kind   string // pool, marker, told or seen: for what can be learnt from
	weight float64
}

// pool are sentences that make sense in any task, by the axis that they bear on.
func pool() map[axis][]string {
	return map[axis][]string{
		axisFormat: {
			"Give only the final answer.", "Give your final answer now.", "State your final answer.", "End with the final answer.",
			"Put the final answer on the last line.", "Write the final answer in the form that was asked for.",
			"Follow the requested answer format exactly.", "Do not forget the answer format.", "Always finish with an answer.",
			"Answer even if you are not sure.", "If in doubt, give your best guess.", "Your reply has no final answer yet.",
			"Write nothing after the final answer.", "Give one answer, not several.", "Repeat the final answer at the end.",
			"Stop once you have given the answer.",
		},
		axisTools: {
			"Use the tool.", "Use the tool before you answer.", "You may use the tool more than once.", "Call the tool first.",
			"Let the tool do the work.", "Check your answer with the tool.", "Do not guess what the tool can tell you.",
			"Write the tool call exactly as described.", "One tool call at a time.", "Read the tool result before you go on.",
			"Use the tool result in your answer.", "Do not make up tool results.", "If the tool does not help, answer without it.",
		},
		axisBrevity: {
			"Be brief.", "Keep it short.", "Use few words.", "Do not explain.", "Do not repeat yourself.", "Answer in one line.",
			"Answer directly.", "No introduction, no summary.", "Write as little as possible.", "Do not think aloud.",
			"Get to the point.", "Skip what is not needed.",
		},
		axisRecovery: {
			"If something fails, fix it and try again.", "If the tool reports an error, correct the call.", "Read error messages carefully.",
			"Try another way if the first one fails.", "Do not repeat a call that failed.", "That did not work. Try again.",
			"Correct the mistake and go on.",
		},
		axisTurns: {
			"Now answer.", "Go on.", "Continue from where you stopped.", "You have little time left.", "This is your last turn.",
			"Finish in as few steps as possible.", "Take the next step.",
		},
		axisOther: {
			"Think step by step.", "Think carefully.", "Be careful.", "Read the question carefully.", "Check each step.",
			"Check your answer before you give it.", "Write down what is given.", "Break the problem into parts.", "Make a plan first.",
			"Solve it one step at a time.", "Pay attention to details.", "Look at the question again.",
		},
	}
}

// phrasesFor gives phrases for an axis: what the evidence says is asked for comes before the pool.
func phrasesFor(a axis, e *evidence) []phrase {
	var out []phrase
	for _, text := range pool()[a] {
		out = append(out, phrase{text, a, "pool", 1})
	}
	share := 1 / float64(max(1, len(out)))
	for i := range out {
		out[i].weight = share
	}
	if a == axisFormat {
		out = append(out, markerPhrases(e.markers)...)
	}
	return out
}

// markerPhrases ask for a piece of text that reasons of failure or the task's description name.
func markerPhrases(markers []marker) []phrase {
	var out []phrase
	for _, m := range markers {
		for i, form := range []string{"Give your final answer in %.", "Give your final answer now, in %.", "End your reply with %.", "Your reply lacks %."} {
			out = append(out, phrase{strings.ReplaceAll(form, "%", m.text), axisFormat, "marker", m.weight / float64(i+2)})
		}
	}
	return out
}

// toldPhrases are the sentences of the task's description: what it says of the answer can be said to the model as it is.
func toldPhrases(about string) []string {
	var out []string
	for _, s := range sentences(about) {
		s = strings.TrimSpace(s)
		if n := len(s); n >= 12 && n <= 200 && !placeholder.MatchString(s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out[:min(len(out), 12)]
}
