package audit

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// weightOf says how much a test on a text weighs if few examples pass it: numbers, several words and names much, an ordinary word little.
func (j *judge) weightOf(t test, ts []token) verdict {
	s := t.with.s
	digits, words, capital := 0, 0, false
	for _, w := range ts {
		switch {
		case w.number && !usual(w.text):
			digits += len(w.text)
		case !w.number && !w.op:
			words++
			r, _ := utf8.DecodeRuneInString(s[w.start:])
			capital = capital || unicode.IsUpper(r)
		}
	}
	v := verdict{what: "a branch on the text " + j.mention(s)}
	switch {
	case t.kind == testPattern:
		v.what = "the pattern " + j.mention(s)
		plain := literalLetters(s)
		switch {
		case digitRun(s) >= 2 && plain >= 4 || digitRun(s) >= 3 || plain >= 16:
			v.weight = 1
		case plain >= 8 && len(ts) >= 2 && len(required(s)) < plain:
			v.weight = 0.34
		case required(s) != "" && len(required(s)) == plain: // a word
			v.weight = ordinaryWeight
		default:
			v.weight = 0.1
		}
	case digits >= 2 && len(ts) >= 2, words >= 4:
		v.weight = 1
	case digits >= 2, words == 3:
		v.weight = 0.5
	case len(ts) == 1 && (ordinary(ts[0].text) || usual(ts[0].text)):
		v.weight = 0
	case capital, t.kind == testEqual && words >= 2, t.kind == testEqual && t.of.col != nil && !t.member:
		v.weight = 0.34
	case len(ts) == 1 && t.member: // a list of words
		v.weight = 0
	default:
		v.weight = ordinaryWeight
	}
	return v
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

// count says for how many examples a test holds, as far as it can be told; a count above rare is only said to be above it. A rough
// count of a pattern looks at some of the examples.
func (j *judge) count(t test, rough bool) (int, bool) {
	col := t.of.col
	switch {
	case col == nil && (t.with.kind != kindString || t.kind == testPattern):
		return 0, false
	case col != nil && t.with.kind == kindInt:
		return j.equals(col)[t.with.n.Int64()], t.with.n.IsInt64()
	case col != nil && t.kind == testEqual:
		return j.equals(col)[t.with.s], true
	}
	if j.evaluated++; j.evaluated > maxEvaluated {
		return 0, false
	}
	if col == nil {
		return j.countAnywhere(t.with.s), true
	}
	hit := func(s string) bool { return false }
	step := 1
	switch t.kind {
	case testContains:
		hit = func(s string) bool { return strings.Contains(s, t.with.s) }
	case testPrefix:
		hit = func(s string) bool { return strings.HasPrefix(s, t.with.s) }
	case testSuffix:
		hit = func(s string) bool { return strings.HasSuffix(s, t.with.s) }
	case testPattern:
		hit = matcher(t.with.s)
		if word := required(t.with.s); word != "" && hit != nil {
			match := hit
			hit = func(s string) bool { return holdsFold(s, word) && match(s) }
		} else if rough {
			step = max(1, j.n/maxRough)
		}
		if j.matched += j.n / step; hit == nil || j.matched > maxMatched+j.n {
			return 0, false
		}
	}
	n := 0
	values := j.column(col)
	for i := 0; i < len(values) && n <= j.rare; i += step {
		switch v := values[i].(type) {
		case string:
			if hit(v) {
				n++
			}
		case []string:
			if t.kind == testContains && slices.Contains(v, t.with.s) {
				n++
			}
		}
	}
	return n, true
}

// The bounds of running patterns over examples: of a rough count, and of all counts of one program.
const (
	maxRough   = 1000
	maxMatched = 30_000
)

// required gives the longest word in lower case that every match of a pattern holds, or "" where none is plain to see.
func required(p string) string {
	if strings.Contains(p, "|") {
		return ""
	}
	best, word, class, depth := "", "", false, 0
	for i := 0; i <= len(p); i++ {
		var c byte
		if i < len(p) {
			c = p[i]
		}
		lower := c | 0x20
		if !class && depth == 0 && lower >= 'a' && lower <= 'z' {
			word += string(lower)
			continue
		}
		if strings.IndexByte("?*{", c) >= 0 && word != "" {
			word = word[:len(word)-1]
		}
		if len(word) > len(best) {
			best = word
		}
		word = ""
		switch c {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	if len(best) < 3 {
		return ""
	}
	return best
}

// holdsFold says whether a text holds a word of plain lower-case letters, in any case.
func holdsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0] && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// matcher makes a quick matcher of a pattern: RE2's where it knows the syntax, for only how often it matches is asked; else our own.
func matcher(p string) func(s string) bool {
	if len(p) <= 1000 {
		if re, err := regexp.Compile(p); err == nil {
			return re.MatchString
		}
	}
	if f := textPattern(p, false); f != nil {
		return func(s string) bool { return f(s) != nil }
	}
	return nil
}

// countAnywhere says how many examples hold a text in any field, in any case.
func (j *judge) countAnywhere(s string) int {
	s = strings.ToLower(s)
	if s == "" {
		return j.n
	}
	n := 0
	hit := make([]bool, j.n)
	for _, name := range j.fieldNames {
		for i, v := range j.column(textMethodColumn(fieldColumn(name), "lower")) {
			if n > j.rare {
				break
			}
			if text, ok := v.(string); ok && !hit[i] && strings.Contains(text, s) {
				hit[i] = true
				n++
			}
		}
	}
	return n
}

// column gives the values of a derivation over the examples.
func (j *judge) column(c *column) []any {
	if j.columns == nil {
		j.columns, j.tallies = map[string][]any{}, map[string]map[any]int{}
	}
	if out, ok := j.columns[c.key]; ok {
		return out
	}
	out := make([]any, j.n)
	if len(j.columns) < maxColumns {
		if c.parent == nil {
			size := 0
			for i, s := range j.fields[c.field] {
				if size += len(s); size > maxColumnBytes {
					break // of long texts the first ones speak for all
				}
				out[i] = s
			}
		} else {
			for i, v := range j.column(c.parent) {
				if v != nil {
					out[i] = c.f(v)
				}
			}
		}
	}
	j.columns[c.key] = out
	return out
}

// The bounds of derivations that are run over all examples for one program: how many, and of how much text.
const (
	maxColumns     = 40
	maxColumnBytes = 8 << 20
)

// equals counts the values of a derivation.
func (j *judge) equals(c *column) map[any]int {
	values := j.column(c)
	if out, ok := j.tallies[c.key]; ok {
		return out
	}
	out := make(map[any]int, len(values))
	for _, v := range values {
		switch v.(type) {
		case string, int64:
			out[v]++
		}
	}
	j.tallies[c.key] = out
	return out
}

// judgeBranches looks for branches on the task's text that each hold an answer.
func (j *judge) judgeBranches() {
	distinct := map[string]bool{}
	var places []place
	for _, b := range j.program.branches {
		for _, s := range b.constants {
			if n := j.givesAnswer(s); n != "" {
				distinct[n] = true
				for _, text := range b.texts {
					if j.belongs(text, j.answers[n]) {
						j.report(RulePairs, b.at, "a branch on words of a question gives its answer")
					}
				}
				if !slices.Contains(places, b.at) {
					places = append(places, b.at)
				}
			}
		}
	}
	if len(distinct) < 2 {
		return
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col)) })
	for _, at := range places {
		j.report(RuleTable, at, "branches on a text give answers of examples")
	}
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
