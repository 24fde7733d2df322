// Package pyre is Python's re on the automata of RE2.
//
// A pattern in Python's syntax is translated into Go's ([regexp/syntax]) and compiled to its instructions, but matched by a matcher of this
// package, for Go's own differs from Python's where it counts: \w, \d, \s and \b know Unicode here, $ matches before a last newline, an empty
// match may follow a match directly, a search may start inside a text and still see what precedes, and a full match is one that
// ends at the end rather than the first that Go would prefer.
//
// The matcher is a backtracker that never visits an instruction at a position twice, so that it takes time proportional to pattern times
// text, whatever both are. It counts its steps and asks a budget, so that its caller bounds it.
//
// Positions are byte offsets. What RE2 cannot do is refused with a message that says so: lookahead, lookbehind, backreferences,
// conditions, atomic groups and possessive quantifiers. [Regexp.Template] reads replacement templates, and [Escape] quotes.
//
// The reference is Python 3.11, library reference, re. The tests of package star compare with what that interpreter answered; the known
// difference is a repeated group that can match nothing, which keeps its last match that is not empty: (a*)* on "a" has group 1 "a".
package pyre
