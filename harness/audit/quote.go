package audit

import (
	"math"
	"slices"
	"strings"
)

// names looks for the names of datasets, however their parts are joined, and for ids.
func (j *judge) namesAndIDs() {
	squashed := map[string]bool{}
	for _, n := range j.Corpus.names {
		squashed[squash(n)] = true
	}
	for _, a := range j.texts() {
		if len(squashed) > 0 && (a.from != comment || a.doc) && holdsName(a.tokens, squashed) {
			j.report(RuleName, a.at, "%s holds the name of a dataset or of its source", a.what())
		}
		if j.holdsID(strings.ToLower(a.text)) {
			j.reportSecret(RuleID, a.at, "%s holds the id of an example", a.what())
		}
	}
	for _, n := range j.program.numbers {
		if j.ids[n.n.String()] {
			j.reportSecret(RuleID, n.at, "the number %s is the id of an example", clip(n.n.String()))
		}
	}
}

// squash leaves what does not depend on how the parts of a name are joined.
func squash(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '/' {
			return -1
		}
		return r
	}, name)
}

func holdsName(ts []token, names map[string]bool) bool {
	for i := range ts {
		name := ""
		for _, t := range ts[i:min(len(ts), i+6)] {
			if name += squash(t.text); name == "" {
				break
			}
			if names[name] {
				return true
			}
		}
	}
	return false
}

func (j *judge) holdsID(s string) bool {
	if len(j.ids) == 0 {
		return false
	}
	wordStart := true
	for i := range len(s) {
		c := s[i]
		inWord := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 0x80
		if inWord && wordStart {
			for _, n := range j.idLens[:min(8, len(j.idLens))] {
				if i+n <= len(s) && j.ids[s[i:i+n]] {
					return true
				}
			}
			if i+8 <= len(s) && j.idWords[s[i:i+8]] {
				return true
			}
		}
		wordStart = !inWord
	}
	return false
}

// view is an atom with its words.
type view struct {
	atom
	tokens []token
}

// what names a text in a message.
func (v *view) what() string {
	switch v.from {
	case computed:
		return "a text that is computed here"
	case comment:
		return "a comment or docstring"
	case decoded, mirrored:
		return "a text that is encoded here"
	}
	return "the text " + clip(v.text)
}

// clip quotes the beginning of a text of the program.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 32 {
		s = string(r[:31]) + "…"
	}
	return `"` + strings.ReplaceAll(s, `"`, `'`) + `"`
}

// texts gives each distinct text once, literals first.
func (j *judge) texts() []view {
	if j.views != nil {
		return j.views
	}
	seen := map[string]bool{}
	total := 0
	for _, from := range []origin{literal, comment, computed, decoded, mirrored} {
		for _, a := range j.atoms {
			if a.from != from || seen[a.text] || total > maxBytes {
				continue
			}
			seen[a.text] = true
			total += len(a.text)
			if ts := tokens(a.text, maxTokens); len(ts) > 0 {
				j.views = append(j.views, view{a, ts})
			}
		}
	}
	return j.views
}

// quotes looks for questions, whole or in long pieces.
func (j *judge) quotes() {
	for _, v := range j.texts() {
		if len(v.tokens) < 3 {
			continue
		}
		if j.quotesWhole(&v) || j.quotesPiece(&v) {
			j.report(RuleQuote, v.at, "%s holds text of an example's question", v.what())
		}
	}
}

// quotesWhole looks for whole questions among a text, its lines and its sentences.
func (j *judge) quotesWhole(v *view) bool {
	check := func(ts []token) bool {
		at := j.whole[gram(ts)]
		return len(ts) >= 3 && at > 0 && j.telling(ts, &j.Corpus.texts[at-1], 0)
	}
	if check(v.tokens) {
		return true
	}
	for _, bounds := range segments(v.text) {
		lo, _ := slices.BinarySearchFunc(v.tokens, bounds[0], func(t token, at int) int { return t.start - at })
		hi, _ := slices.BinarySearchFunc(v.tokens, bounds[1], func(t token, at int) int { return t.start - at })
		if lo < hi && (lo > 0 || hi < len(v.tokens)) && check(v.tokens[lo:hi]) {
			return true
		}
	}
	return false
}

// segments gives the spans of lines, of what follows a label in a line, and of sentences.
func segments(s string) [][2]int {
	var out [][2]int
	start, sentence := 0, 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '\n' || s[i] == '|' || s[i] == '\t' {
			out = append(out, [2]int{start, i}, [2]int{sentence, i})
			if k := strings.IndexByte(s[start:i], ':'); k >= 0 && k < 24 {
				out = append(out, [2]int{start + k + 1, i})
				if a := strings.Index(s[start+k+1:i], " A:"); a >= 0 {
					out = append(out, [2]int{start + k + 1, start + k + 1 + a})
				}
			}
			start, sentence = i+1, i+1
		} else if s[i] == '.' || s[i] == '?' || s[i] == '!' || s[i] == ':' {
			out = append(out, [2]int{sentence, i + 1})
			sentence = i + 1
		}
	}
	return out
}

// quotesPiece looks for long sequences of words that few examples share.
func (j *judge) quotesPiece(v *view) bool {
	ts := v.tokens
	type diagonal struct{ text, shift int32 }
	tried := map[diagonal]bool{}
	for i := 0; i+gramWords <= len(ts); i++ {
		h := gram(ts[i : i+gramWords])
		g, ok := j.grams[h]
		if !ok || j.public[h] || int(g.count) > j.rare {
			continue
		}
		d := diagonal{g.text, g.at - int32(i)}
		if tried[d] {
			continue
		}
		tried[d] = true
		x := &j.Corpus.texts[g.text]
		lo, hi, at := i, i+gramWords, int(g.at)
		for lo > 0 && at > 0 && ts[lo-1].hash == x.words[at-1] {
			lo, at = lo-1, at-1
		}
		for hi < len(ts) && at+hi-lo < len(x.words) && ts[hi].hash == x.words[at+hi-lo] {
			hi++
		}
		if hi-lo >= j.options.NGram && j.telling(ts[lo:hi], x, at) {
			return true
		}
	}
	return false
}

// telling says whether a piece of a question tells which one it is: its numbers are those of the question, and are not met by chance; or its
// words are rare. at is where the piece begins among the question's words.
func (j *judge) telling(ts []token, x *indexed, at int) bool {
	var numbers []string
	bits := 0.0
	seen := map[uint32]bool{}
	for i, t := range ts {
		switch {
		case t.number:
			numbers = append(numbers, t.text)
		case seen[t.hash] || t.op || ordinary(t.text) || j.spoken[t.hash] || j.framed(ts, i):
		default:
			seen[t.hash] = true
			bits += j.bits(t.hash)
		}
	}
	n := math.Log2(float64(j.n + 1))
	whole := len(ts) == len(x.words)
	if whole && bits >= max(8, n) || bits >= max(14, 1.8*n) {
		return true
	}
	if len(x.numbers) < 2 || len(numbers) < 2 || 4*len(numbers) < 3*len(x.numbers) {
		return false
	}
	if len(numbers) == len(x.numbers) {
		shape, _ := shapeOf(numbers)
		return j.coverage[shape]*float64(j.windows()[shape]) < 10*j.options.Chance
	}
	digits := 0
	for _, n := range numbers {
		if !usual(n) {
			digits += len(n)
		}
	}
	return float64(digits) >= 2+math.Log10(float64(j.n+1))
}

// framed says whether a word is part of what many examples have in common around it.
func (j *judge) framed(ts []token, i int) bool {
	for lo := max(0, i-frameWords+1); lo <= i && lo+frameWords <= len(ts); lo++ {
		if int(j.frames[frameOf(ts[lo:lo+frameWords])].count) > j.rare {
			return true
		}
	}
	return false
}
