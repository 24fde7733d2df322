package audit

import (
	"regexp"
	"slices"
	"strings"
)

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
