package audit

import "slices"

// judgeBranches looks for branches on the task's text that give answers: two, or one for the very words that the branch asks for. It says
// so at the first branch, whichever it is: told of each one, it would say which guesses are right.
func (j *judge) judgeBranches() {
	distinct := answerSet{}
	pair := false
	for _, b := range j.program.branches {
		for _, s := range b.constants {
			n := j.givesAnswer(s)
			if n == "" {
				continue
			}
			distinct[n] = true
			pair = pair || slices.ContainsFunc(b.texts, func(text string) bool { return j.belongs(text, j.answers[n]) })
		}
	}
	if len(distinct) == 0 {
		return
	}
	first := j.program.branches[0].at
	for _, b := range j.program.branches {
		if b.at.before(first) {
			first = b.at
		}
	}
	if pair {
		j.report(RulePairs, first, "a branch of this program asks for words of a question and gives its answer")
	}
	if distinct.weight() >= 2 {
		j.report(RuleTable, first, "branches on the task's text give answers of examples")
	}
}

// answerSet is a set of answers.
type answerSet map[string]bool

// weight counts the answers, numbers of two digits half: as limits and counts they are met by chance.
func (s answerSet) weight() float64 {
	sum := 0.0
	for n := range s {
		if len(n) <= 2 {
			sum += 0.5
		} else {
			sum++
		}
	}
	return sum
}

// givesAnswer gives the answer that a short constant is or holds, or "".
func (j *judge) givesAnswer(s string) string {
	if len(s) > 200 {
		return ""
	}
	ts := tokens(s, 32)
	if len(ts) == 0 || len(ts) > 16 {
		return ""
	}
	key := joined(ts)
	if a, ok := j.answers[key]; ok && (a.number && !usual(ts[len(ts)-1].text) || !a.number && a.weight >= 0.5) {
		return key
	}
	numbers := numbersOf(ts)
	if len(ts) <= 10 && len(numbers) == 1 && j.numberAnswer(numbers[0]) {
		return numbers[0]
	}
	for i := range ts { // in a sentence: several words, or a name
		key := ts[i].text
		for k := i; k < min(len(ts), i+j.longest); k++ {
			if k > i {
				key += " " + ts[k].text
			}
			if a, ok := j.answers[key]; ok && !a.number && a.weight >= 0.5 && (k > i || nameAt(s, ts[i].start) && a.weight*2 > 0.9) {
				return key
			}
		}
	}
	return ""
}
