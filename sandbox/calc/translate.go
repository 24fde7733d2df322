package calc

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// powName is the function that `**` becomes. The program cannot mean it: names with two leading underscores are refused.
const powName = "__pow__"

// infName is what literals become that are too large for a float.
const infName = "__inf__"

// edit replaces the bytes [start, end) of the source. Edits never add or remove line breaks outside what they replace, so
// that lines keep their numbers.
type edit struct {
	start, end int
	text       string
	order      int // among edits at one place
}

// translator turns Python tokens that Starlark does not know into ones that it does.
type translator struct {
	toks  []token
	edits []edit
}

// translate returns src in Starlark's syntax, as far as tokens go, line for line.
func translate(src string) (string, error) {
	toks, err := scan(src)
	if err != nil {
		return "", err
	}
	t := &translator{toks: toks}
	for i, tok := range toks {
		if err := t.token(i, tok); err != nil {
			return "", err
		}
	}
	return t.apply(src), nil
}

// unsupported are words of Python's grammar that the interpreter does not have.
var unsupported = []string{"assert", "async", "await", "class", "del", "except", "finally", "global", "is", "nonlocal",
	"raise", "try", "with", "yield"}

func (t *translator) token(i int, tok token) error {
	switch {
	case tok.kind == tokName && strings.HasPrefix(tok.text, "__"):
		return errorAt(tok.line, "%s: names that begin with __ are not available", clip(tok.text))
	case tok.kind == tokName && (tok.text == "import" || tok.text == "from") && t.startsStatement(i):
		return t.importStatement(i)
	case tok.kind == tokName && slices.Contains(unsupported, tok.text) && !t.isOp(i-1, "."):
		return errorAt(tok.line, "%q is not available in the calculator", tok.text)
	case tok.kind == tokName && tok.text == "for" && !t.startsStatement(i):
		t.generator(i)
	case tok.kind == tokNumber:
		t.number(tok)
	case tok.kind == tokOp && tok.text == "**":
		t.power(i)
	case tok.kind == tokOp && tok.text == "**=":
		return t.powerAssign(i)
	}
	return nil
}

// number takes the underscores out of a literal, and makes one that no float can hold infinite, as Python does.
func (t *translator) number(tok token) {
	text := strings.ReplaceAll(tok.text, "_", "")
	if f, err := strconv.ParseFloat(text, 64); err != nil && math.IsInf(f, 0) && strings.ContainsAny(text, ".eE") {
		text = infName
	}
	if text != tok.text {
		t.edits = append(t.edits, edit{tok.start, tok.end, text, 3})
	}
}

func (t *translator) apply(src string) string {
	slices.SortStableFunc(t.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.order, b.order))
	})
	var out strings.Builder
	pos := 0
	for _, e := range t.edits {
		if e.start < pos {
			continue // inside something replaced already
		}
		out.WriteString(src[pos:e.start])
		out.WriteString(e.text)
		pos = e.end
	}
	out.WriteString(src[pos:])
	return out.String()
}

// power rewrites the `**` at token i, when it is an operator with both operands; anything else is left to the parser to
// complain about. The left operand is a primary (an atom with its calls, subscripts and attributes): `**` binds
// tighter than a sign on its left. The right one is a unary expression, which may hold further powers: it associates to
// the right and binds weaker than a sign on its right.
func (t *translator) power(i int) {
	left, ok := t.primaryBefore(i)
	if !ok {
		return
	}
	right, ok := t.unaryAfter(i + 1)
	if !ok {
		return
	}
	start, end := t.toks[left].start, t.toks[right].end
	// At one place closing comes before the comma of an outer power, and that before opening.
	t.edits = append(t.edits,
		edit{start, start, powName + "(", 2},
		edit{t.toks[i].start, t.toks[i].end, ",", 1},
		edit{end, end, ")", 0})
}

// generator makes the generator expression whose first `for` is token i a list, as in sum(x for x in y); a comprehension in
// other brackets is left alone.
func (t *translator) generator(i int) {
	depth := 0
	for open := i - 1; open >= 0; open-- {
		switch depth += t.bracket(open); {
		case depth == 0 && t.toks[open].kind == tokName && t.toks[open].text == "for":
			return // another clause of the same expression
		case depth == 1:
			if end, ok := t.closingOf(open); ok && t.isOp(open, "(") {
				t.edits = append(t.edits, edit{t.toks[open].end, t.toks[open].end, "[", 1}, edit{t.toks[end].start, t.toks[end].start, "]", 1})
			}
			return
		}
	}
}

// powerAssign rewrites `name **= value`.
func (t *translator) powerAssign(i int) error {
	tok := t.toks[i]
	if i == 0 || t.toks[i-1].kind != tokName || !t.startsStatement(i-1) {
		return errorAt(tok.line, "**= works on plain names only: write x = x ** y")
	}
	last := i
	for !t.endsStatement(last + 1) {
		last++
	}
	if last == i {
		return errorAt(tok.line, "**= has no value")
	}
	end := t.toks[last].end
	t.edits = append(t.edits,
		edit{tok.start, tok.end, "= " + powName + "(" + t.toks[i-1].text + ", (", 0},
		edit{end, end, "))", 1})
	return nil
}

// primaryBefore finds the first token of the primary that ends just before token i.
func (t *translator) primaryBefore(i int) (start int, ok bool) {
	j := i - 1
	for {
		if j < 0 {
			return 0, false
		}
		switch tok := t.toks[j]; {
		case tok.kind == tokOp && (tok.text == ")" || tok.text == "]" || tok.text == "}"):
			if j = t.openingOf(j); j < 0 {
				return 0, false
			}
			// A bracket behind an operand is its call or subscript.
			if t.toks[j].text != "{" && j > 0 && t.endsOperand(j-1) {
				j--
				continue
			}
		case !t.endsOperand(j):
			return 0, false
		}
		if !t.isOp(j-1, ".") {
			return j, true
		}
		j -= 2
	}
}

// unaryAfter finds the last token of the unary expression that begins at token i.
func (t *translator) unaryAfter(i int) (end int, ok bool) {
	for t.isOp(i, "-") || t.isOp(i, "+") || t.isOp(i, "~") {
		i++
	}
	if i >= len(t.toks) {
		return 0, false
	}
	switch {
	case t.isOp(i, "("), t.isOp(i, "["), t.isOp(i, "{"):
		if i, ok = t.closingOf(i); !ok {
			return 0, false
		}
	case !t.endsOperand(i):
		return 0, false
	}
	for {
		switch {
		case t.isOp(i+1, "("), t.isOp(i+1, "["):
			if i, ok = t.closingOf(i + 1); !ok {
				return 0, false
			}
		case t.isOp(i+1, ".") && i+2 < len(t.toks):
			i += 2
		case t.isOp(i+1, "**"):
			return t.unaryAfter(i + 2)
		default:
			return i, true
		}
	}
}

// keywords may stand before a bracket without being called.
var keywords = []string{"and", "break", "continue", "def", "elif", "else", "for", "from", "if", "import", "in", "lambda", "not",
	"or", "pass", "return", "while"}

// endsOperand reports whether an operand can end with token i.
func (t *translator) endsOperand(i int) bool {
	switch tok := t.toks[i]; tok.kind {
	case tokName:
		return !slices.Contains(keywords, tok.text)
	case tokNumber, tokString:
		return true
	case tokOp:
		return tok.text == ")" || tok.text == "]" || tok.text == "}"
	}
	return false
}

func (t *translator) openingOf(i int) int {
	depth := 0
	for ; i >= 0; i-- {
		depth -= t.bracket(i)
		if depth == 0 {
			return i
		}
	}
	return -1
}

func (t *translator) closingOf(i int) (int, bool) {
	depth := 0
	for ; i < len(t.toks); i++ {
		depth += t.bracket(i)
		if depth == 0 {
			return i, true
		}
	}
	return 0, false
}

// bracket is 1 for an opening bracket, -1 for a closing one, 0 otherwise.
func (t *translator) bracket(i int) int {
	if t.toks[i].kind != tokOp {
		return 0
	}
	switch t.toks[i].text {
	case "(", "[", "{":
		return 1
	case ")", "]", "}":
		return -1
	}
	return 0
}

func (t *translator) isOp(i int, text string) bool {
	return 0 <= i && i < len(t.toks) && t.toks[i].kind == tokOp && t.toks[i].text == text
}

func (t *translator) startsStatement(i int) bool {
	return i == 0 || t.toks[i-1].kind == tokNewline || t.isOp(i-1, ";") || t.isOp(i-1, ":")
}

func (t *translator) endsStatement(i int) bool {
	return i >= len(t.toks) || t.toks[i].kind == tokNewline || t.isOp(i, ";")
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}
