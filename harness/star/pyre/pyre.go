package pyre

import (
	"errors"
	"fmt"
	"regexp/syntax"
)

// Flags are Python's flags, with Python's numbers.
type Flags int

// The flags.
const (
	IgnoreCase Flags = 2   // re.I
	Multiline  Flags = 8   // re.M: ^ and $ match at each line
	DotAll     Flags = 16  // re.S: . matches a newline too
	ASCII      Flags = 256 // re.A: \w, \d, \s and \b know ASCII alone

	allFlags = IgnoreCase | Multiline | DotAll | ASCII
)

// The bounds of a pattern.
const (
	MaxPattern = 16 << 10 // bytes
	maxProgram = 20_000   // instructions, about
	maxVisited = 1 << 28  // bits: instructions times positions of one search
)

// Regexp is a compiled pattern. It is immutable.
type Regexp struct {
	pattern string
	flags   Flags
	prog    *syntax.Prog
	groups  []int          // Python's group number → Go's capture number; groups[0] = 0
	names   map[string]int // group name → Python's group number
	order   []string       // group names in the order of their groups
	roles   map[int]role   // Go's capture number → what stands there instead of a group
}

// Error is a pattern or a template that is not valid.
type Error struct {
	Message string
	Pos     int // byte offset in the pattern; -1 = unknown
}

func (e *Error) Error() string {
	if e.Pos < 0 {
		return e.Message
	}
	return fmt.Sprintf("%s at position %d", e.Message, e.Pos)
}

// Compile compiles a pattern. The error is an *[Error].
func Compile(pattern string, flags Flags) (*Regexp, error) {
	if len(pattern) > MaxPattern {
		return nil, &Error{fmt.Sprintf("the pattern has %d bytes, want at most %d", len(pattern), MaxPattern), -1}
	}
	if bad := flags &^ allFlags; bad != 0 {
		return nil, &Error{fmt.Sprintf("unknown flags %d: known are I, M, S and A", bad), -1}
	}
	t := newTranslator(pattern, flags)
	translated, err := t.translate()
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(translated, syntax.Perl|syntax.UnicodeGroups)
	if err != nil {
		var se *syntax.Error
		if errors.As(err, &se) {
			return nil, &Error{describe(se), -1}
		}
		return nil, &Error{err.Error(), -1}
	}
	if size(tree) > maxProgram {
		return nil, &Error{"the pattern is too large: its repeats multiply", -1}
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, &Error{err.Error(), -1}
	}
	return &Regexp{pattern: pattern, flags: t.flags, prog: prog, groups: t.groups, names: t.names, order: t.order, roles: t.roles}, nil
}

// describe says what Go's parser found, in Python's words where they are near.
func describe(e *syntax.Error) string {
	switch e.Code {
	case syntax.ErrMissingRepeatArgument:
		return "nothing to repeat"
	case syntax.ErrInvalidRepeatOp:
		return "multiple repeat"
	case syntax.ErrInvalidRepeatSize:
		return "a repeat of more than 1000 (" + e.Expr + ")"
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return "missing ), or one too many"
	case syntax.ErrMissingBracket:
		return "unterminated character set"
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		return "the pattern is too large"
	}
	return e.Code.String()
}

// size estimates the instructions of a tree once its repeats are written out.
func size(re *syntax.Regexp) int {
	n := 1
	for _, sub := range re.Sub {
		n += size(sub)
		if n > maxProgram {
			return n
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		n += len(re.Rune)
	case syntax.OpRepeat:
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// Pattern is the source.
func (r *Regexp) Pattern() string { return r.pattern }

// Flags are the flags, those that the pattern sets itself included.
func (r *Regexp) Flags() Flags { return r.flags }

// NumGroups is the number of groups, without group 0.
func (r *Regexp) NumGroups() int { return len(r.groups) - 1 }

// GroupNames are the names of the named groups, in the order of the groups.
func (r *Regexp) GroupNames() []string { return r.order }

// GroupIndex gives the number of a named group.
func (r *Regexp) GroupIndex(name string) (int, bool) {
	n, ok := r.names[name]
	return n, ok
}
