package pyre

import (
	"errors"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Mode says where a match may lie.
type Mode int

// The modes.
const (
	Search Mode = iota // anywhere from the start position on
	Prefix             // at the start position
	Full               // from the start position to the end
)

// Budget is asked before more steps of the matcher are taken; an error stops the match.
type Budget func(steps int) error

// matchSteps is what FindAll counts for each match that it keeps: an empty pattern matches everywhere, at almost no step.
const matchSteps = 32

// budgetSteps is how many steps are taken between two questions to the budget.
const budgetSteps = 1024

// ErrTooLong is the error for a text too long for a pattern.
var ErrTooLong = errors.New("the text is too long for this pattern")

// Find gives the first match from pos on: the byte offsets of group 0, 1, …, two each, -1 for a group that took no part. It gives nil
// where there is none.
func (r *Regexp) Find(text string, pos int, mode Mode, budget Budget) ([]int, error) {
	m, err := r.matcher(text, budget)
	if err != nil {
		return nil, err
	}
	return m.find(pos, mode, false)
}

// FindAll gives the matches that do not overlap, at most limit of them where limit > 0. As in Python, an empty match may directly
// follow another match.
func (r *Regexp) FindAll(text string, limit int, budget Budget) ([][]int, error) {
	m, err := r.matcher(text, budget)
	if err != nil {
		return nil, err
	}
	var all [][]int
	for pos, advance := 0, false; limit <= 0 || len(all) < limit; {
		spans, err := m.find(pos, Search, advance)
		if err != nil {
			return nil, err
		}
		if spans == nil {
			break
		}
		all = append(all, spans)
		if err := m.spend(matchSteps); err != nil { // what keeping a match costs
			return nil, err
		}
		pos, advance = spans[1], spans[0] == spans[1]
	}
	return all, nil
}

// matcher matches one pattern on one text.
type matcher struct {
	r       *Regexp
	text    string
	budget  Budget
	steps   int      // since the budget was last asked
	visited []uint64 // bit pos*len(inst)+pc: tried in this search, in vain
	touched []int    // the words of visited that are not zero
	jobs    []job
	caps    []int
}

// job is a branch to try later, or, where pc is negative, a capture to put back on the way there.
type job struct {
	pc   int
	pos  int // or the capture's old value
	slot int
}

func (r *Regexp) matcher(text string, budget Budget) (*matcher, error) {
	bits := len(r.prog.Inst) * (len(text) + 1)
	if bits > maxVisited {
		return nil, ErrTooLong
	}
	m := &matcher{r: r, text: text, budget: budget, visited: make([]uint64, (bits+63)/64), caps: make([]int, r.prog.NumCap)}
	return m, m.spend(bits / 512) // what clearing the bits costs
}

func (m *matcher) spend(steps int) error {
	m.steps += steps
	if m.steps < budgetSteps {
		return nil
	}
	n := m.steps
	m.steps = 0
	return m.budget(n)
}

// find searches from pos. With advance, an empty match at pos does not count.
func (m *matcher) find(pos int, mode Mode, advance bool) ([]int, error) {
	for _, w := range m.touched {
		m.visited[w] = 0
	}
	m.touched = m.touched[:0]
	prefix, _ := m.r.prog.Prefix()
	for start := pos; start <= len(m.text); {
		if prefix != "" {
			i := strings.Index(m.text[start:], prefix)
			if i < 0 || i > 0 && mode != Search {
				break
			}
			start += i
			if err := m.spend(i / 16); err != nil {
				return nil, err
			}
		}
		ok, err := m.try(start, mode, advance && start == pos)
		if err != nil {
			return nil, err
		}
		if ok {
			return m.spans(), m.finish()
		}
		if mode != Search || start == len(m.text) {
			break
		}
		_, size := utf8.DecodeRuneInString(m.text[start:])
		start += size
	}
	return nil, m.finish()
}

// finish hands the budget the steps that it has not seen yet.
func (m *matcher) finish() error {
	n := m.steps
	m.steps = 0
	return m.budget(n)
}

// spans picks the pattern's own groups out of the captures.
func (m *matcher) spans() []int {
	out := make([]int, 2*len(m.r.groups))
	for i, g := range m.r.groups {
		out[2*i], out[2*i+1] = m.caps[2*g], m.caps[2*g+1]
		if out[2*i+1] < 0 {
			out[2*i] = -1
		}
	}
	return out
}

// try matches at start alone. What was visited from earlier starts need not be visited again: it failed, and where a match began does
// not matter to whether it fails.
func (m *matcher) try(start int, mode Mode, advance bool) (bool, error) {
	for i := range m.caps {
		m.caps[i] = -1
	}
	m.caps[0] = start
	m.jobs = append(m.jobs[:0], job{pc: m.r.prog.Start, pos: start})
	for len(m.jobs) > 0 {
		j := m.jobs[len(m.jobs)-1]
		m.jobs = m.jobs[:len(m.jobs)-1]
		if j.pc < 0 {
			m.caps[j.slot] = j.pos
			continue
		}
		end, err := m.branch(j.pc, j.pos, mode, advance)
		if err != nil {
			return false, err
		}
		if end >= 0 {
			m.caps[1] = end
			return true, nil
		}
	}
	return false, nil
}

// branch follows one branch and leaves the others in jobs; it gives the position of the match's end, or -1.
func (m *matcher) branch(pc, pos int, mode Mode, advance bool) (int, error) {
	insts := m.r.prog.Inst
	for {
		bit := pos*len(insts) + pc
		word, mask := bit/64, uint64(1)<<(bit%64)
		if m.visited[word]&mask != 0 {
			return -1, nil
		}
		if m.visited[word] == 0 {
			m.touched = append(m.touched, word)
		}
		m.visited[word] |= mask
		if err := m.spend(1); err != nil {
			return -1, err
		}
		inst := &insts[pc]
		switch inst.Op {
		case syntax.InstFail:
			return -1, nil
		case syntax.InstMatch:
			if mode == Full && pos != len(m.text) || advance && pos == m.caps[0] {
				return -1, nil
			}
			return pos, nil
		case syntax.InstAlt, syntax.InstAltMatch:
			m.jobs = append(m.jobs, job{pc: int(inst.Arg), pos: pos})
		case syntax.InstCapture:
			slot := int(inst.Arg)
			if m.r.roles[slot/2] == roleDollar {
				if slot%2 == 0 && !m.beforeEnd(pos) {
					return -1, nil
				}
				break
			}
			m.jobs = append(m.jobs, job{pc: -1, pos: m.caps[slot], slot: slot})
			m.caps[slot] = pos
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^m.conditions(pos) != 0 {
				return -1, nil
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if pos == len(m.text) {
				return -1, nil
			}
			r, size := utf8.DecodeRuneInString(m.text[pos:])
			if !inst.MatchRune(r) {
				return -1, nil
			}
			pos += size
		}
		pc = int(inst.Out)
	}
}

// beforeEnd says whether $ matches without the flag M.
func (m *matcher) beforeEnd(pos int) bool {
	return pos == len(m.text) || pos == len(m.text)-1 && m.text[pos] == '\n'
}

// conditions gives what holds between two characters.
func (m *matcher) conditions(pos int) syntax.EmptyOp {
	var op syntax.EmptyOp
	before, after := false, false
	if pos == 0 {
		op |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	} else {
		r, _ := utf8.DecodeLastRuneInString(m.text[:pos])
		before = wordRune(r, m.r.flags&ASCII != 0)
		if r == '\n' {
			op |= syntax.EmptyBeginLine
		}
	}
	if pos == len(m.text) {
		op |= syntax.EmptyEndText | syntax.EmptyEndLine
	} else {
		r, _ := utf8.DecodeRuneInString(m.text[pos:])
		after = wordRune(r, m.r.flags&ASCII != 0)
		if r == '\n' {
			op |= syntax.EmptyEndLine
		}
	}
	if before != after {
		return op | syntax.EmptyWordBoundary
	}
	return op | syntax.EmptyNoWordBoundary
}
