package audit

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func bigs(list []string) []*big.Int {
	out := make([]*big.Int, 0, len(list))
	for _, n := range list {
		i, ok := new(big.Int).SetString(n, 10)
		if !ok {
			return nil
		}
		out = append(out, i)
	}
	return out
}

// fields splits a text where packed data is split.
func fieldsOf(s string) []string {
	return strings.FieldsFunc(s, isSeparator)
}

// eachField calls f with the fields of a text and where they begin.
func eachField(s string, f func(field string, start int)) {
	start := 0
	for i, r := range s + "\n" {
		if isSeparator(r) {
			if i > start {
				f(s[start:i], start)
			}
			start = i + len(string(r))
		}
	}
}

func isSeparator(r rune) bool { return strings.ContainsRune("\n\t,;|=:\"'`()[]{}<>", r) }

// unspaced joins the runs of single letters of a text, s-u-c-h as this, into words; or its runs of single digits into numbers.
func unspaced(v view, digits bool) []token {
	var out []token
	var b strings.Builder
	start, last := 0, -1
	flush := func() {
		if b.Len() >= 4 || digits && b.Len() >= 2 {
			out = append(out, token{text: b.String(), number: digits, start: start})
		}
		b.Reset()
		last = -1
	}
	for _, t := range v.tokens {
		if t.op {
			continue
		}
		if utf8.RuneCountInString(t.text) != 1 || t.number != digits {
			flush()
			continue
		}
		if last >= 0 && (t.start-last > 6 || strings.ContainsAny(v.text[last:t.start], ",;|\n")) {
			flush()
		}
		if b.Len() == 0 {
			start = t.start
		}
		b.WriteString(t.text)
		last = t.start
	}
	flush()
	return out
}

// nameAt says whether a word that begins with a capital stands at a place of a text, and is no beginning of a sentence.
func nameAt(s string, start int) bool {
	if r, _ := utf8.DecodeRuneInString(s[start:]); !unicode.IsUpper(r) && !unicode.IsDigit(r) {
		return false
	}
	before := strings.TrimRight(s[:start], " \n\t\"'([")
	return before == "" && len(strings.Fields(s)) <= 3 || before != "" && !strings.ContainsRune(".!?", rune(before[len(before)-1]))
}

// met is an answer that stands in the program.
type met struct {
	weight float64
	at     place
	what   string
}

// answerTexts weighs the answers, other than numbers, that stand in the program as texts, as fields of texts and in prose.
func (j *judge) answerTexts() {
	found := map[string]met{}
	add := func(key string, factor float64, v *view, first token) {
		a, ok := j.answers[key]
		if !ok || a.number {
			return
		}
		w := a.weight * factor
		if !strings.Contains(key, " ") && v.from == literal && !nameAt(v.text, first.start) {
			if w *= 0.5; len(v.tokens) > 1 && factor < 1 {
				w = 0 // one word of a sentence
			}
		}
		if old, ok := found[key]; !ok || w > old.weight {
			found[key] = met{w, v.at, v.what()}
		}
	}
	for _, v := range j.texts() {
		factor := 1.0
		if v.from == decoded || v.from == mirrored {
			factor = 1.5
		}
		add(joined(v.tokens), factor, &v, v.tokens[0])
		if len(v.tokens) == 1 {
			continue
		}
		eachField(v.text, func(f string, start int) {
			if ts := tokens(f, j.longest+1); len(ts) > 0 && len(ts) <= j.longest {
				ts[0].start += start
				add(joined(ts), factor, &v, ts[0])
			}
		})
		for _, s := range unspaced(v, false) {
			if key, ok := j.squashed[s.text]; ok {
				add(key, 1.5, &v, s)
			}
		}
		for i := range v.tokens {
			if len(found) > 2000 {
				break
			}
			if key, ok := j.squashed[v.tokens[i].text]; ok { // PortEllinor
				add(key, factor, &v, v.tokens[i])
			}
			key := ""
			for k := i; k < min(len(v.tokens), i+j.longest); k++ {
				if k > i {
					key += " "
				}
				key += v.tokens[k].text
				add(key, factor/2, &v, v.tokens[i])
			}
		}
	}
	sum := 0.0
	for _, key := range slices.Sorted(maps.Keys(found)) { // in an order, for sums round
		sum += found[key].weight
	}
	if sum < j.options.Answers+max(0, math.Log2(float64(j.n)/1000))/2 { // of more answers more are met by chance
		return
	}
	for _, m := range found {
		if m.weight >= 0.25 {
			j.reportSecret(RuleAnswer, m.at, "%s is among several texts of this program that are answers of examples", m.what)
		}
	}
}
