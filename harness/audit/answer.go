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
		for i := range v.tokens {
			if len(found) > 2000 {
				break
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
			j.report(RuleAnswer, m.at, "%s is among several texts of this program that are answers of examples", m.what)
		}
	}
}

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
			j.report(RuleSpelled, v.at, "an answer of an example is put together here")
		}
	}
	j.computedNumbers(plain)
}

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
		j.report(RuleSpelled, at, "answers of examples are computed here")
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

// opaqueBytes counts the bytes of a text's runs that are neither words nor a pattern.
func opaqueBytes(s string) int {
	total := 0
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return !base64Rune(r) }) {
		if len(f) < 20 || strings.Count(f, "/") >= 4 || ascending(f) {
			continue
		}
		changes, digits, distinct := 0, 0, map[rune]bool{}
		var last int
		for _, r := range f {
			class := 1
			switch {
			case isDigit(r):
				class, digits = 2, digits+1
			case unicode.IsUpper(r):
				class = 3
			case !unicode.IsLetter(r):
				class = 4
			}
			if last != 0 && class != last {
				changes++
			}
			last = class
			distinct[r] = true
		}
		if len(distinct) >= 6 && (digits == len(f) || changes*4 >= len(f)) {
			total += len(f)
		}
	}
	for _, r := range s {
		if unicode.In(r, unicode.Co, unicode.Cf) || unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' {
			total += 4
		}
	}
	return total + spaceBits(s)
}

// spaceBits counts the gaps of a text that are one or two spaces wide without any order, where there are many of both: a bit each.
func spaceBits(s string) int {
	one, two := 0, 0
	for line := range strings.Lines(s) {
		line = strings.Trim(line, " \n")
		for line != "" {
			i := strings.IndexByte(line, ' ')
			if i < 0 {
				break
			}
			rest := strings.TrimLeft(line[i:], " ")
			switch len(line) - i - len(rest) {
			case 1:
				one++
			case 2:
				two++
			}
			line = rest
		}
	}
	if two < 40 || one < 40 {
		return 0
	}
	return one + two
}

func base64Rune(r rune) bool {
	return isDigit(r) || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '+' || r == '/' || r == '-' || r == '_'
}

// ascending says whether most characters follow the one before: an alphabet.
func ascending(s string) bool {
	n := 0
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1]+1 {
			n++
		}
	}
	return 2*n > len(s)
}
