package pyre

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// role is what a capture of the translation stands for where it is no group of the pattern.
type role int

const roleDollar role = 1 // $ without the flag M: the end, or before a last newline

// translator rewrites a pattern of Python's into one of Go's that needs no flags but i.
type translator struct {
	in       string
	pos      int
	out      strings.Builder
	flags    Flags   // of the place
	stack    []Flags // of the open groups, to return to
	captures int     // Go's captures so far
	groups   []int
	names    map[string]int
	order    []string
	roles    map[int]role
	atom     bool // something stands before pos that a quantifier may repeat
	repeated bool // a quantifier stands directly before pos
}

func newTranslator(pattern string, flags Flags) *translator {
	return &translator{in: pattern, flags: flags, groups: []int{0}, names: map[string]int{}, roles: map[int]role{}}
}

func (t *translator) fail(pos int, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), pos}
}

func (t *translator) translate() (string, error) {
	if err := t.globalFlags(); err != nil {
		return "", err
	}
	global := t.flags
	for t.pos < len(t.in) {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	if len(t.stack) > 0 {
		return "", t.fail(len(t.in), "missing ), unterminated subpattern")
	}
	t.flags = global
	if global&IgnoreCase != 0 {
		return "(?i:" + t.out.String() + ")", nil
	}
	return t.out.String(), nil
}

// globalFlags reads (?ims) at the start of the pattern.
func (t *translator) globalFlags() error {
	for strings.HasPrefix(t.in[t.pos:], "(?") {
		end := strings.IndexByte(t.in[t.pos:], ')')
		if end < 0 || !isLetters(t.in[t.pos+2:t.pos+end]) {
			return nil
		}
		on, err := t.letters(t.in[t.pos+2:t.pos+end], t.pos+2)
		if err != nil {
			return err
		}
		t.flags |= on
		t.pos += end + 1
	}
	return nil
}

func isLetters(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return s != ""
}

func (t *translator) letters(s string, pos int) (Flags, error) {
	var f Flags
	for i := range len(s) {
		switch s[i] {
		case 'i':
			f |= IgnoreCase
		case 'm':
			f |= Multiline
		case 's':
			f |= DotAll
		case 'a':
			f |= ASCII
		case 'u':
		default:
			return 0, t.fail(pos+i, "unknown flag %q: known are i, m, s, a and u", s[i])
		}
	}
	return f, nil
}

// next translates the element at pos.
func (t *translator) next() error {
	c := t.in[t.pos]
	switch c {
	case '*', '+', '?':
		t.pos++
		return t.quantifier(string(c), t.pos-1)
	case '{':
		if q, n := repeat(t.in[t.pos:]); n > 0 {
			t.pos += n
			return t.quantifier(q, t.pos-n)
		}
	}
	if strings.HasPrefix(t.in[t.pos:], "(?#") {
		return t.comment()
	}
	t.repeated, t.atom = false, true
	switch c {
	case '(':
		return t.open()
	case ')':
		return t.close()
	case '[':
		return t.class()
	case '\\':
		return t.escape()
	case '|':
		t.atom = false
		t.write("|")
	case '.':
		t.write(pick(t.flags&DotAll != 0, "(?s:.)", "(?-s:.)"))
	case '^':
		t.atom = false
		t.write(pick(t.flags&Multiline != 0, "(?m:^)", `\A`))
	case '$':
		t.atom = false
		if t.flags&Multiline != 0 {
			t.write("(?m:$)")
			break
		}
		t.captures++
		t.roles[t.captures] = roleDollar
		t.write("()")
	default:
		r, size := utf8.DecodeRuneInString(t.in[t.pos:])
		t.pos += size
		t.literal(r, size)
		return nil
	}
	t.pos++
	return nil
}

func (t *translator) write(s string) { t.out.WriteString(s) }

func pick(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

// literal writes a character that stands for itself. A byte that is no UTF-8 matches what the matcher reads for such a byte.
func (t *translator) literal(r rune, size int) {
	switch {
	case r == utf8.RuneError && size == 1:
		t.write(`\x{FFFD}`)
	case r < utf8.RuneSelf && strings.ContainsRune(`\.+*?()|[]{}^$`, r):
		t.write(`\` + string(r))
	default:
		t.write(string(r))
	}
}

// repeat reads a quantifier in braces: "{2}", "{2,}", "{,3}" or "{2,3}". Other braces are characters; n is 0 for them.
func repeat(s string) (q string, n int) {
	end := strings.IndexByte(s, '}')
	if end < 2 {
		return "", 0
	}
	low, high, comma := strings.Cut(s[1:end], ",")
	if !isDigits(low) || !isDigits(high) || !comma && low == "" {
		return "", 0
	}
	if low == "" {
		low = "0"
	}
	if comma {
		low += ","
	}
	return "{" + low + high + "}", end + 1
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// quantifier writes a quantifier, with the ? of a lazy one.
func (t *translator) quantifier(q string, at int) error {
	switch {
	case t.repeated:
		return t.fail(at, "multiple repeat")
	case !t.atom:
		return t.fail(at, "nothing to repeat")
	}
	if strings.HasPrefix(t.in[t.pos:], "+") {
		return t.fail(at, "possessive quantifiers are not supported")
	}
	if low, high, ok := strings.Cut(strings.Trim(q, "{}"), ","); ok && high != "" {
		a, _ := strconv.Atoi(low)
		if b, _ := strconv.Atoi(high); a > b {
			return t.fail(at, "min repeat greater than max repeat")
		}
	}
	t.write(q)
	if strings.HasPrefix(t.in[t.pos:], "?") {
		t.pos++
		t.write("?")
	}
	t.repeated = true
	return nil
}

// unsupported are the groups that automata cannot match.
var unsupported = []struct{ prefix, what string }{
	{"(?=", "lookahead (?=…) is not supported: match what follows and use a group for the part that is wanted"},
	{"(?!", "lookahead (?!…) is not supported: match more and check the result in code"},
	{"(?<=", "lookbehind (?<=…) is not supported: match what precedes and use a group for the part that is wanted"},
	{"(?<!", "lookbehind (?<!…) is not supported: match more and check the result in code"},
	{"(?P=", "backreferences are not supported: match twice and compare"},
	{"(?(", "conditions are not supported: write two patterns"},
	{"(?>", "atomic groups are not supported"},
}

// open translates the start of a group.
func (t *translator) open() error {
	start, rest := t.pos, t.in[t.pos:]
	for _, u := range unsupported {
		if strings.HasPrefix(rest, u.prefix) {
			return t.fail(start, "%s", u.what)
		}
	}
	t.atom = false
	switch {
	case strings.HasPrefix(rest, "(?P<"):
		name, _, ok := strings.Cut(rest[4:], ">")
		if !ok {
			return t.fail(start, "missing >, unterminated name")
		}
		if !isName(name) {
			return t.fail(start, "bad character in group name %q", name)
		}
		if _, twice := t.names[name]; twice {
			return t.fail(start, "redefinition of group name %q", name)
		}
		t.names[name] = len(t.groups)
		t.order = append(t.order, name)
		t.capture()
		t.pos += 4 + len(name) + 1
		return nil
	case strings.HasPrefix(rest, "(?"):
		return t.flagGroup()
	}
	t.capture()
	t.pos++
	return nil
}

// comment skips a comment; what stands before it is what a quantifier after it repeats.
func (t *translator) comment() error {
	end := strings.IndexByte(t.in[t.pos:], ')')
	if end < 0 {
		return t.fail(t.pos, "missing ), unterminated comment")
	}
	t.pos += end + 1
	return nil
}

func (t *translator) capture() {
	t.stack = append(t.stack, t.flags)
	t.captures++
	t.groups = append(t.groups, t.captures)
	t.write("(")
}

// flagGroup translates "(?:", "(?i:" or "(?s-i:".
func (t *translator) flagGroup() error {
	start := t.pos
	end := strings.IndexAny(t.in[start:], ":)")
	if end < 0 {
		return t.fail(start, "unexpected end of pattern")
	}
	if t.in[start+end] == ')' {
		if isLetters(t.in[start+2 : start+end]) {
			return t.fail(start, "global flags not at the start of the expression")
		}
		return t.fail(start, "unknown extension %s", t.in[start:start+end])
	}
	on, off, minus := strings.Cut(t.in[start+2:start+end], "-")
	if !isLetters(on+off) && on+off != "" || minus && off == "" {
		return t.fail(start, "unknown extension %s", t.in[start:start+3])
	}
	add, err := t.letters(on, start+2)
	if err != nil {
		return err
	}
	remove, err := t.letters(off, start+3+len(on))
	if err != nil {
		return err
	}
	t.stack = append(t.stack, t.flags)
	t.flags = t.flags&^remove | add
	t.write(pick(t.flags&IgnoreCase != 0, "(?i:", "(?-i:"))
	t.pos = start + end + 1
	return nil
}

func (t *translator) close() error {
	if len(t.stack) == 0 {
		return t.fail(t.pos, "unbalanced parenthesis")
	}
	t.flags = t.stack[len(t.stack)-1]
	t.stack = t.stack[:len(t.stack)-1]
	t.write(")")
	t.pos++
	return nil
}

func isName(s string) bool {
	for i, r := range s {
		if r == '_' || wordRune(r, false) && (i > 0 || r < '0' || r > '9') {
			continue
		}
		return false
	}
	return s != ""
}
