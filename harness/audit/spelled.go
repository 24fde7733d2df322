package audit

import (
	"math/big"
	"slices"
	"strings"
)

// spelled looks for answers that no literal holds, but that are put together from pieces or codes.
func (j *judge) spelled() {
	plain := map[string]bool{}
	for _, v := range j.texts() {
		if v.from != literal && v.from != comment {
			continue
		}
		for _, t := range v.tokens {
			plain[t.text] = true
		}
	}
	for _, n := range j.program.numbers {
		if n.from == literal {
			plain[n.n.String()] = true
		}
	}
	seen := map[string]bool{}
	sum := 0.0
	var places []view
	for _, v := range j.texts() {
		if v.from != computed && v.from != decoded || !v.spelled || len(v.tokens) > 4096 {
			continue
		}
		w := 0.0
		key := joined(v.tokens)
		if a, ok := j.answers[key]; ok && !seen[key] && !j.saysPlainly(key) {
			seen[key] = true
			switch {
			case !a.number:
				w += 2 * a.weight
			case !usual(key) && !plain[v.tokens[len(v.tokens)-1].text]:
				w += float64(len(v.tokens[len(v.tokens)-1].text)) / 3
			}
		}
		if v.from == computed || len(v.tokens) > 1 {
			for _, t := range v.tokens {
				if t.number && !plain[t.text] && !seen[t.text] && j.numberAnswer(t.text) && (len(t.text) >= 3 || v.from == computed) {
					seen[t.text] = true
					w += 0.5
				}
			}
		}
		if w > 0 {
			sum += w
			places = append(places, v)
		}
	}
	if sum >= 0.65 {
		for _, v := range places {
			j.reportSecret(RuleSpelled, v.at, "an answer of an example is put together here")
		}
	}
	j.computedNumbers(plain)
	for _, v := range j.texts() {
		met, all := map[string]bool{}, map[string]bool{}
		for _, t := range unspaced(v, true) {
			all[t.text] = true
			if j.numberAnswer(t.text) {
				met[t.text] = true
			}
		}
		if len(met) >= manySpaced && 4*len(met) >= 3*len(all) {
			j.reportSecret(RuleSpelled, v.at, "answers of examples are spelled here digit by digit")
		}
	}
}

// manySpaced is how many answers must be spelled digit by digit: rows of digits make numbers by chance.
const manySpaced = 5

// saysPlainly says whether a literal holds a text as it is.
func (j *judge) saysPlainly(key string) bool {
	return slices.ContainsFunc(j.texts(), func(v view) bool {
		return v.from == literal && (joined(v.tokens) == key || strings.Contains(" "+joined(v.tokens)+" ", " "+key+" "))
	})
}

// computedNumbers looks for answers that arithmetic over constants gives, in loops or one by one.
func (j *judge) computedNumbers(plain map[string]bool) {
	var list []string
	var places []place
	seen := map[string]bool{}
	add := func(n string, at place) {
		if !plain[n] && !seen[n] && j.numberAnswer(n) {
			seen[n] = true
			list = append(list, n)
			if !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
	}
	for _, v := range j.texts() { // what reaches a text
		if v.from != computed || len(v.tokens) > 256 {
			continue
		}
		for _, t := range v.tokens {
			if t.number {
				add(t.text, v.at)
			}
		}
	}
	for _, t := range j.tables { // what is kept
		for _, column := range numberColumns(t) {
			for _, n := range column {
				add(n, t.at)
			}
		}
	}
	ints := bigs(list)
	slices.SortFunc(ints, func(a, b *big.Int) int { return a.Cmp(b) })
	if len(list) < 3 || regular(ints) || nearlyRow(ints) {
		return
	}
	for _, at := range places {
		j.reportSecret(RuleSpelled, at, "answers of examples are computed here")
	}
}

// nearlyRow says whether sorted numbers are mostly neighbours: a counter.
func nearlyRow(list []*big.Int) bool {
	near := 0
	for i := 1; i < len(list); i++ {
		if d := new(big.Int).Sub(list[i], list[i-1]); d.IsInt64() && d.Int64() <= 1 {
			near++
		}
	}
	return 2*near >= len(list)-1
}
