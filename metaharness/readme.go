package metaharness

import (
	"fmt"
	"strings"
)

// readme is README.md of an archive: everything that a proposer is told in words.
func readme(about string, candidates int, s Selection) string {
	var b strings.Builder
	b.WriteString("# Harness search\n\n" + strings.TrimSpace(`
A model is run by a harness: a program that decides what the model is told, how its replies are read, which tools are called and when
an episode ends. The model stays as it is. Write better harnesses.`) + "\n\n")
	fmt.Fprintf(&b, "## The task\n\n%s\n\n", strings.TrimSpace(about))
	fmt.Fprintf(&b, `## What to do

Read what earlier programs did and why episodes failed. Then write up to %d programs, each with what it is meant to show:

- candidates/NAME.star: the whole program, UTF-8, at most %d KiB, a regular file. NAME is of letters, digits, '.', '_' and '-'.
- candidates/NAME.json: {"hypothesis": what you saw, what you change, what should follow; "axis": which side of the harness, in a
  word or two; "parent": the id of the archived program that you started from; "operators": [kinds of edits]}

`, candidates, MaxSource>>10)
	b.WriteString(strings.TrimSpace(`
A program is rejected, with a reason that the next session reads, if it does not load, if the archive has it already, or if all trial
episodes fail because of it. What remains is run on all examples, one episode each. The best score of the archive wins; on a tie the
program that made the model write fewer tokens.
`) + "\n" + s.told() + "\n" + strings.TrimSpace(`
Rules:
- One idea a program, and different ideas in different programs. A hypothesis must be such that the scores can refute it.
- Programs are for the task in general: quote no example, and put no answer into a program.
- Scores are measured here, not by you. Do not try to run the model.
- Do not conclude that nothing can be improved.

## What is here

- index.jsonl: one line a program, in order: id, status, mean score, delta against its parent, hypothesis, or why it was rejected.
  The best so far has "accepted": true.
- harnesses/ID/harness.star: an evaluated program.
- harnesses/ID/meta.json, score.json: its line of the index as it was evaluated, and its totals.
- harnesses/ID/outcomes.jsonl: one line an example: reward, reason, broken limit, tokens.
- harnesses/ID/trajectories.jsonl: one line an example: what the agent saw, the messages of each turn (those that differ from the turn
  before), replies, finish reasons, tool calls and results. Long texts are cut.
- harnesses/ID/failures.md: reasons of failure, counted, with one case each.
- rejected/ID.star: programs that were rejected or not scored.
- reports/: what became of each session's programs.
- library.json: the contract's modules: functions, parameters, defaults, choices and bounds.

Examples are numbered from 1, the same in all files.

## The contract
`) + "\n\n")
	b.WriteString(strings.TrimSpace(contractReference()) + "\n")
	return b.String()
}

// told says in words what a selection changes of the plain rule: nothing where it is the plain rule.
func (s Selection) told() string {
	s = s.withDefaults()
	var b strings.Builder
	if s.Racing > 0 {
		b.WriteString("A program whose first examples leave it hardly a chance to reach the accepted one's score is stopped, and has no score.\n")
	}
	switch {
	case s.Reevaluate > 0:
		b.WriteString("In the end the best few run again on fresh episodes, and those decide: a score that was luck does not last.\n")
	case s.Accept == AcceptPaired:
		b.WriteString("The best score is accepted only if it beats the accepted one on the same examples by more than chance explains.\n")
	}
	return b.String()
}
