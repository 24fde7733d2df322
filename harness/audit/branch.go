package audit

import (
	"math"
	"slices"
	"strings"
)

// maxEvaluated bounds how many tests of one program are run over all examples, those for equality apart.
const maxEvaluated = 200

// verdict is what a test weighs: 1 singles out examples by itself.
type verdict struct {
	weight float64
	hash   bool
	at     place
	what   string
}

// judgeTests weighs the tests on the task's text, each distinct one once.
func (j *judge) judgeTests() {
	seen := map[string]bool{}
	var list []verdict
	sum, hashes := 0.0, 0.0
	orders := map[string]map[string]bool{} // distinct thresholds of lengths, by what is compared
	for _, t := range j.allTests() {
		id := string('0'+rune(t.kind)) + t.with.key() + "\x00" + columnKey(t.of)
		if seen[id] {
			continue
		}
		seen[id] = true
		if t.kind == testOrder && t.with.kind == kindInt && t.of.length {
			key := columnKey(t.of)
			if orders[key] == nil {
				orders[key] = map[string]bool{}
			}
			orders[key][t.with.n.String()] = true
			if len(orders[key]) == 5 {
				list = append(list, verdict{weight: 1, at: t.at, what: "a ladder of lengths"})
				sum++
			}
			continue
		}
		v := j.weigh(t)
		if v.weight == 0 {
			continue
		}
		v.at = t.at
		list = append(list, v)
		if v.hash {
			hashes += v.weight
		} else {
			sum += v.weight
		}
	}
	heaviest := 0.0
	for _, v := range list {
		heaviest = max(heaviest, v.weight)
	}
	for _, v := range list {
		switch {
		case v.weight < heaviest/2: // it did not decide
		case v.hash && hashes >= 1:
			j.report(RuleHash, v.at, "a number computed from a text is compared with a constant")
		case !v.hash && sum >= 1:
			j.report(RuleBranch, v.at, "%s singles out examples", v.what)
		}
	}
}

func columnKey(v *val) string {
	if v.col != nil {
		return v.col.key
	}
	return ""
}

// allTests gives the tests, and membership in constant lists as one test for each element.
func (j *judge) allTests() []test {
	out := slices.Clone(j.program.tests)
	for _, l := range j.program.lookups {
		if l.values == nil && l.text == "" {
			for _, k := range l.keys[:min(len(l.keys), 64)] {
				if k.known() && (k.kind == kindString || k.kind == kindInt) {
					out = append(out, test{at: l.at, kind: testEqual, with: k, of: l.of, member: true})
				}
			}
		}
	}
	return out
}

func (j *judge) weigh(t test) verdict {
	if t.with.kind == kindInt {
		return j.weighNumber(t)
	}
	if t.with.kind != kindString || t.kind == testOrder {
		return verdict{}
	}
	s := t.with.s
	ts := tokens(s, 256)
	if t.of.taints()&taintTask == 0 {
		return j.weighReply(t, ts)
	}
	v := j.weightOf(t, ts)
	if v.weight == 0 {
		return v
	}
	count, ok := j.count(t, v.weight < 0.5)
	if !ok || count == 0 || count > j.rare {
		return verdict{}
	}
	return v
}

// weightOf says how much a test on a text weighs if few examples pass it: what tells which example it is of weighs 1, an ordinary phrase
// little, for in a small set any phrase is in few examples.
func (j *judge) weightOf(t test, ts []token) verdict {
	s := t.with.s
	v := verdict{what: "a branch on the text " + j.mention(s)}
	if t.kind == testPattern {
		v.what = "the pattern " + j.mention(s)
		plain := literalLetters(s)
		bits, _ := j.wordBits(tokens(patternText(s), 256))
		switch {
		case digitRun(s) >= 2 && plain >= 4 || digitRun(s) >= 3 || bits >= j.tellingBits():
			v.weight = 1
		case required(s) != "" && len(required(s)) == plain: // a word
			v.weight = ordinaryWeight
		case bits >= j.tellingBits()/2 && plain >= 8:
			v.weight = 0.25
		default:
			v.weight = 0.1
		}
		return v
	}
	bits, capital := j.wordBits(ts)
	digits, words, letters := 0, 0, 0
	for _, w := range ts {
		switch {
		case w.number && !usual(w.text):
			digits += len(w.text)
		case !w.number && !w.op:
			words++
			letters += len(w.text)
		}
	}
	switch {
	case digits >= 2 && len(ts) >= 2, len(ts) >= 2 && bits >= j.tellingBits(), len(ts) >= 6 && letters < 3*len(ts): // numbers, names, notation
		v.weight = 1
	case digits >= 2:
		v.weight = 0.5
	case len(ts) == 1 && (ordinary(ts[0].text) || usual(ts[0].text)):
		v.weight = 0
	case capital && bits > 0:
		v.weight = 0.34
	case words >= 2 && bits >= j.tellingBits()/2:
		v.weight = 0.25
	case words >= 4:
		v.weight = 0.15
	case len(ts) == 1 && t.member: // a list of words
		v.weight = 0
	default:
		v.weight = ordinaryWeight
	}
	return v
}

// tellingBits is how much words must tell to single out an example.
func (j *judge) tellingBits() float64 { return max(8, 1.5*math.Log2(float64(j.n+1))) }

// wordBits adds up what the words of a text tell of which example it is of, and says whether one of them is written as a name.
func (j *judge) wordBits(ts []token) (bits float64, capital bool) {
	seen := map[uint32]bool{}
	for i, t := range ts {
		if t.number || t.op || seen[t.hash] || ordinary(t.text) || j.spoken[t.hash] || j.framed(ts, i) {
			continue
		}
		seen[t.hash] = true
		bits += j.bits(t.hash)
		capital = capital || t.capital
	}
	return bits, capital
}

// patternText leaves the words of a pattern, without its escapes.
func patternText(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' {
			i++
			b.WriteByte(' ')
			continue
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// ordinaryWeight is what a test for one word weighs: a program may look for two dozen words of which each is in few questions.
const ordinaryWeight = 0.04

// mention quotes a text in a message where the program holds it as it is: what it computes is not told.
func (j *judge) mention(s string) string {
	for _, a := range j.atoms {
		if a.from == literal && strings.Contains(a.text, s) {
			return clip(s)
		}
	}
	return "that is computed here"
}

// digitRun gives the longest run of digits in a pattern, those in counts like {2,3} apart.
func digitRun(p string) int {
	best, n, braces := 0, 0, false
	for _, r := range p {
		switch {
		case r == '{':
			braces = true
		case r == '}':
			braces = false
		}
		if isDigit(r) && !braces {
			n++
			best = max(best, n)
		} else {
			n = 0
		}
	}
	return best
}

// literalLetters counts the letters of a pattern that stand for themselves.
func literalLetters(p string) int {
	n, class := 0, false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case !class && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'):
			n++
		}
	}
	return n
}

// weighReply weighs a test on what the model said: comparing it with answers filters them.
func (j *judge) weighReply(t test, ts []token) verdict {
	a, ok := j.answers[joined(ts)]
	if !ok || t.kind == testPattern {
		return verdict{}
	}
	v := verdict{what: "a comparison of the model's text with " + j.mention(t.with.s)}
	switch {
	case a.number && !usual(ts[len(ts)-1].text):
		v.weight = 0.5
	case !a.number:
		v.weight = a.weight / 3
	}
	if t.kind == testEqual {
		v.weight *= 2
	}
	return v
}

func (j *judge) weighNumber(t test) verdict {
	n := t.with.n.String()
	odd := !usual(n)
	if t.kind != testEqual {
		return verdict{}
	}
	if t.of.opaque {
		v := verdict{hash: true, weight: 0.34}
		if odd || len(n) > 2 {
			v.weight = 1
		}
		return v
	}
	count, ok := j.count(t, false)
	v := verdict{what: "a comparison with the number " + clip(n)}
	switch {
	case t.of.taints()&taintTask == 0:
		if odd && j.numberAnswer(n) && !t.of.length {
			v.weight = 0.5
		}
	case t.of.length && (odd || len(n) >= 3 || ok && count > 0 && count <= j.rare):
		if len(n) >= 2 {
			v.weight = 1
		} else {
			v.weight = 0.2
		}
	case t.of.length && (!ok || 5*count < j.n):
		v.weight = 0.2
	case t.of.length:
		v.weight = 0.1
	case odd && (!ok || count > 0 && count <= j.rare):
		v.weight = 0.5
	case ok && count > 0 && count <= j.rare:
		v.weight = 0.1
	}
	return v
}
