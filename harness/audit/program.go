package audit

import (
	"fmt"
	"math/big"
	"strings"
)

// place is a position in the source, from 1.
type place struct{ line, col int }

// origin is how an atom came about.
type origin uint8

const (
	literal  origin = iota // it stands in the source
	comment                // a comment or docstring: no program reads it, but people and proposers do
	computed               // the program computes it from literals
	decoded                // base64, hexadecimal or codes of one of those
	mirrored               // one of those backwards or by rot13: words alone count, for numbers read backwards are numbers too
)

// atom is a constant text of a program.
type atom struct {
	text    string
	at      place
	from    origin
	spelled bool // put together from pieces or codes
	doc     bool // of a comment: a docstring
}

// table is a constant with rows: a dict's entries, a list's elements, a text's lines.
type table struct {
	at   place
	end  place // where it ends in the source; the zero place where it is none of its pieces
	rows []row
}

// row is one of a table: its cells are texts and numbers, flattened, the key first where there is one.
type row struct {
	cells []string
	keyed bool
}

// number is a number that the source holds, or that is computed.
type number struct {
	n    *big.Int
	at   place
	from origin
}

// testKind is how a text or number is tested.
type testKind uint8

const (
	testEqual testKind = iota
	testContains
	testPrefix
	testSuffix
	testPattern
	testOrder // < <= > >=
)

// test compares what is tainted with a constant.
type test struct {
	at     place
	kind   testKind
	with   *val // string or int
	of     *val // the tainted side
	member bool // one of a list
}

// lookup selects among constants by what is tainted.
type lookup struct {
	at     place
	of     *val   // the tainted key
	keys   []*val // of a dict, or the elements that the key is compared with; nil for an index into a list
	values []*val // nil where membership is asked
	text   string // the haystack, where the key is looked for in a text
}

// program is what was read of a source.
type program struct {
	atoms     []atom
	seen      map[atom]bool
	grows     map[place]int // the latest computed atom of a place
	numbers   []number
	tables    []table
	tests     []test
	lookups   []lookup
	spent     place // where the budget ended; line 0 = it did not
	branches  []branch
	occasions map[occasion]bool
}

// branch is a branch on the task's text, with the constants of its body.
type branch struct {
	at        place
	constants []string
	texts     []string // that its condition looks for
}

func newProgram() *program {
	return &program{seen: map[atom]bool{}, grows: map[place]int{}, occasions: map[occasion]bool{}}
}

// The most of each that is kept of one program.
const (
	maxAtoms = 6000
	maxTests = 1500
	maxTable = 400
	maxBytes = 1 << 20 // of atoms
)

// addText keeps a constant text; holes divide it.
func (p *program) addText(a atom) {
	for part := range strings.SplitSeq(a.text, string(hole)) {
		a.text = part
		if strings.TrimSpace(part) == "" || p.seen[a] {
			continue
		}
		p.seen[a] = true
		if i, ok := p.grows[a.at]; ok && a.from == computed && strings.HasPrefix(part, p.atoms[i].text) {
			p.atoms[i] = a // a text that a loop makes longer: what it is in the end holds what it was
			continue
		}
		if len(p.atoms) < maxAtoms {
			if a.from == computed {
				p.grows[a.at] = len(p.atoms)
			}
			p.atoms = append(p.atoms, a)
		}
	}
}

func (p *program) addNumber(n number) {
	if len(p.numbers) < maxAtoms {
		p.numbers = append(p.numbers, n)
	}
}

func (p *program) addTest(t test) {
	key := t.with.key()
	if p.once(t.at, int(t.kind), key[:min(len(key), 256)]) && len(p.tests) < maxTests {
		p.tests = append(p.tests, t)
	}
}

func (p *program) addLookup(l lookup) {
	key := fmt.Sprint(len(l.keys), len(l.values), l.of.opaque, l.of.length, columnKey(l.of)) + l.text[:min(len(l.text), 256)]
	if p.once(l.at, -1, key) && len(p.lookups) < maxTests {
		p.lookups = append(p.lookups, l)
	}
}

// addBranch keeps a branch; the tests since a number are those of its condition.
func (p *program) addBranch(at place, constants []string, since int) {
	if len(constants) == 0 || len(p.branches) >= maxTests || !p.once(at, -2, "") {
		return
	}
	b := branch{at: at, constants: constants}
	for _, t := range p.tests[since:] {
		if t.with.kind == kindString && len(b.texts) < 16 {
			b.texts = append(b.texts, t.with.s)
		}
	}
	p.branches = append(p.branches, b)
}

// once says whether something is new at its place: loops and calls come there again.
func (p *program) once(at place, kind int, key string) bool {
	id := occasion{at, kind, key}
	if p.occasions[id] {
		return false
	}
	p.occasions[id] = true
	return true
}

type occasion struct {
	at   place
	kind int
	key  string
}

// full says whether there was more than is kept.
func (p *program) full() bool {
	return len(p.atoms) >= maxAtoms || len(p.tests) >= maxTests || len(p.lookups) >= maxTests || len(p.tables) >= maxTable
}

// addTable keeps a constant list or dict of at least three rows; of the tables that begin at one place the longest counts.
func (p *program) addTable(at, end place, v *val) {
	var rows []row
	switch v.kind {
	case kindList:
		for _, e := range v.list.elems[:min(len(v.list.elems), 4096)] {
			rows = append(rows, row{cells: flatten(nil, e, 4)})
		}
	case kindDict:
		for i := range v.dict.keys[:min(len(v.dict.keys), 4096)] {
			rows = append(rows, row{cells: flatten(flatten(nil, v.dict.keys[i], 4), v.dict.vals[i], 4), keyed: true})
		}
	}
	p.addRows(table{at: at, end: end, rows: rows})
}

func (p *program) addRows(t table) {
	if len(t.rows) < 2 {
		return
	}
	for i := range p.tables {
		if o := &p.tables[i]; o.at == t.at {
			if len(t.rows) > len(o.rows) || len(t.rows) == len(o.rows) && len(t.rows[0].cells) > len(o.rows[0].cells) {
				*o = t
			}
			return
		}
	}
	if len(p.tables) < maxTable {
		p.tables = append(p.tables, t)
	}
}

// enclosing gives the place of the outermost table around a place, or the place itself. Findings about what is secret in the examples are
// told of the whole table: told of each entry, they would say which of a list of guesses are right.
func (p *program) enclosing(at place) place {
	out := at
	for _, t := range p.tables {
		if t.end.line > 0 && !at.before(t.at) && at.before(t.end) && t.at.before(out) {
			out = t.at
		}
	}
	return out
}

func (p place) before(o place) bool { return p.line < o.line || p.line == o.line && p.col < o.col }

// flatten appends the texts and numbers of a value.
func flatten(out []string, v *val, depth int) []string {
	if len(out) > 256 || depth == 0 {
		return out
	}
	switch v.kind {
	case kindString, kindInt, kindFloat:
		for part := range strings.SplitSeq(v.text(0), string(hole)) {
			if part != "" {
				out = append(out, part)
			}
		}
	case kindList:
		for _, e := range v.list.elems {
			out = flatten(out, e, depth-1)
		}
	case kindDict:
		for i := range v.dict.keys {
			out = flatten(flatten(out, v.dict.keys[i], depth-1), v.dict.vals[i], depth-1)
		}
	}
	return out
}
