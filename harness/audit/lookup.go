package audit

import (
	"math/big"
	"slices"
	"strings"
)

// judgeLookups weighs the selections among constants by what is tainted.
func (j *judge) judgeLookups() {
	for _, l := range j.program.lookups {
		switch {
		case l.text != "":
			if j.telltale(l) {
				j.report(RuleTable, l.at, "a text is looked for in packed constants: %s", clip(l.text))
			}
		case l.values != nil:
			j.judgeLookup(l)
		}
	}
}

// telltale says whether a text in which another one is looked for is data: numbers or answers.
func (j *judge) telltale(l lookup) bool {
	if len(l.text) < 16 || ascending(l.text) {
		return false
	}
	ts := tokens(l.text, maxTokens)
	odd, answers := 0, 0
	for _, t := range ts {
		if t.number && !usual(t.text) {
			odd++
			if len(t.text) >= 12 {
				return true
			}
		}
	}
	for _, f := range fieldsOf(l.text) {
		if a, ok := j.answers[joined(tokens(f, 16))]; ok && !a.number && a.weight >= 0.5 {
			answers++
		}
	}
	return odd >= 3 || answers >= 2
}

func (j *judge) judgeLookup(l lookup) {
	var values, keyNumbers []string
	answers := answerSet{}
	short := 0
	for i, v := range l.values[:min(len(l.values), 2000)] {
		if i < len(l.keys) && l.keys[i].kind == kindString && numberWord(l.keys[i].s) {
			continue
		}
		for _, c := range flatten(nil, v, 3) {
			ts := tokens(c, 32)
			if len(ts) <= 4 {
				short++
			}
			if isNumber(ts) {
				values = append(values, ts[len(ts)-1].text)
			}
			if n := j.givesAnswer(c); n != "" {
				answers[n] = true
			}
		}
	}
	if lawful(values) || neighbours(values) {
		answers = nil
	}
	keys, hashes := 0.0, 0
	for _, k := range l.keys[:min(len(l.keys), 2000)] {
		switch k.kind {
		case kindInt:
			keyNumbers = append(keyNumbers, k.n.String())
			if !usual(k.n.String()) {
				hashes++
			}
		case kindString:
			if l.of.taints()&taintTask != 0 && keys < 2 {
				keys += j.weigh(test{kind: testEqual, with: k, of: l.of}).weight
			}
			if len(k.s) >= 8 && isHex(k.s) {
				hashes++
			}
		case kindList:
			for _, c := range flatten(nil, k, 3) {
				if !usual(c) {
					hashes++
				}
			}
		}
	}
	if lawful(keyNumbers) {
		hashes = 0
	}
	switch {
	case l.of.opaque && (hashes >= 2 || answers.weight() >= 2 || l.keys == nil && short >= 6 && len(l.values) >= 6):
		j.report(RuleHash, l.at, "a number computed from a text selects among %d constants", len(l.values))
	case answers.weight() >= 2:
		j.report(RuleTable, l.at, "a text selects among %d constants that are answers of examples", len(l.values))
	case l.of.taints()&taintTask != 0 && (keys >= 1.5 || hashes >= 3):
		j.report(RuleTable, l.at, "the task's text selects among %d constants by what few examples have", len(l.values))
	case l.of.length && hashes >= 2:
		j.report(RuleTable, l.at, "a length selects among %d constants", len(l.values))
	}
}

// neighbours says whether numbers, sorted, are mostly one apart: words for numbers, positions.
func neighbours(list []string) bool {
	ints := bigs(list)
	if len(ints) < 4 {
		return false
	}
	slices.SortFunc(ints, func(a, b *big.Int) int { return a.Cmp(b) })
	return nearlyRow(slices.CompactFunc(ints, func(a, b *big.Int) bool { return a.Cmp(b) == 0 }))
}

// volume looks for more data than a harness needs, and for data that cannot be read.
func (j *judge) volume() {
	if at := j.spent; at.line > 0 && j.holdsData() {
		j.report(RuleConstant, at, "the program computes more from constants than is followed (%d steps)", maxSteps)
	}
	if j.full() {
		j.report(RuleVolume, place{1, 1}, "the program holds more constants than are looked at")
	}
	distinct := map[string]bool{}
	most, atMost := 0, place{}
	texts := 0
	for _, t := range j.tables {
		here := 0
		for _, column := range numberColumns(t) {
			if lawful(column) || neighbours(column) {
				continue
			}
			for _, n := range column {
				if !usual(n) && !distinct[n] {
					distinct[n] = true
					here++
				}
			}
		}
		for _, r := range t.rows {
			if len(r.cells) > 0 && len(r.cells[0]) <= 24 {
				texts++
			}
		}
		if here > most {
			most, atMost = here, t.at
		}
	}
	if len(distinct) > j.options.Numbers {
		j.report(RuleVolume, atMost, "the tables of this program hold %d unusual numbers, want at most %d", len(distinct), j.options.Numbers)
	}
	if texts > maxShortTexts {
		j.report(RuleVolume, atMost, "the tables of this program hold %d short constants, want at most %d", texts, maxShortTexts)
	}
	j.opaque()
}

// holdsData says whether a program holds data that it might unpack: many unusual numbers, tables of texts, long texts without words. One
// that computes much from little, such as the moves of a board, hides nothing.
func (j *judge) holdsData() bool {
	odd := map[string]bool{}
	for _, n := range j.program.numbers {
		if n.from == literal && !usual(n.n.String()) {
			odd[n.n.String()] = true
		}
	}
	texts := 0
	for _, v := range j.texts() {
		if v.from != literal {
			continue
		}
		for _, f := range strings.Fields(v.text) {
			if len(f) >= 16 {
				texts += len(f) / 16
			}
		}
	}
	for _, t := range j.tables {
		for _, r := range t.rows {
			for _, c := range r.cells {
				if len(c) >= 6 {
					texts++
				}
			}
		}
	}
	return len(odd) >= 12 || texts >= 12
}

// maxShortTexts is how many short constants the tables of a program may hold: word lists need some.
const maxShortTexts = 1500
