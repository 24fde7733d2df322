package star

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// GatePromptOnly is the check of a search that may change the two prompts alone (paper section 1, the FST control).
const GatePromptOnly Gate = "prompt-only"

// The names that messages of [PromptOnly] give to the two programs.
const (
	incomingName  = "incoming.star"
	candidateName = "candidate.star"
)

// PromptOnly says whether a candidate differs from the phase's incoming harness in nothing but the values of SYSTEM_PROMPT and
// USER_PROMPT. Their assignments at the top level must stay where they are, and their values stay string literals. Comments, blank lines,
// formatting, the spelling of literals and redundant parentheses are free; names, order, docstrings and the values of all other literals
// are not ([Outline]).
//
// The error is of type [Errors]: of an earlier gate where the candidate is no harness, else the first difference, of the gate
// prompt-only, at its place in the candidate. An incoming program that is no harness is an error of another type.
func PromptOnly(incoming, candidate []byte) error {
	want, err := fixed(incomingName, incoming)
	if err != nil {
		return fmt.Errorf("prompt-only: the incoming harness is none: %w", err)
	}
	got, err := fixed(candidateName, candidate)
	if err != nil {
		return err
	}
	for i, g := range got {
		if i == len(want) {
			return Errors{promptOnlyError(g, nil)}
		}
		if g.Text != want[i].Text {
			return Errors{promptOnlyError(g, &want[i])}
		}
	}
	if len(got) < len(want) {
		missing := want[len(got)]
		return Errors{promptOnlyError(Part{Text: "the end of the program", Pos: endOf(candidate)}, &missing)}
	}
	return nil
}

// fixed outlines what a prompt-only search may not change of a program that passes the gates.
func fixed(name string, src []byte) ([]Part, error) {
	if _, err := Load(name, src); err != nil {
		return nil, err
	}
	file, err := Parse(name, src) // anew: Load resolves its tree
	if err != nil {
		return nil, err
	}
	var out []Part
	for _, stmt := range file.Stmts {
		// Only an assignment that stands at the top level itself is free. The contract gate has seen that its value is a literal.
		o := outliner{}
		if a, ok := stmt.(*syntax.AssignStmt); ok {
			o.free = func(x *syntax.AssignStmt) bool {
				id, ok := x.LHS.(*syntax.Ident)
				return x == a && ok && x.Op == syntax.EQ && isPrompt(id.Name)
			}
		}
		o.node(stmt)
		out = append(out, o.parts...)
	}
	return out, nil
}

// promptOnlyError tells of a difference; want is nil where the incoming program has ended.
func promptOnlyError(got Part, want *Part) *Error {
	e := &Error{
		Gate: GatePromptOnly, File: candidateName, Line: int(got.Pos.Line), Col: int(got.Pos.Col),
		Suggestion: "only the values of " + systemPrompt + " and " + userPrompt + " may change, comments and formatting aside",
	}
	if want == nil {
		e.Message = fmt.Sprintf("got %s, want the end of the program", brieflySaid(got.Text))
		return e
	}
	g, w := apart(got.Text, want.Text)
	e.Message = fmt.Sprintf("got %s, want %s, as in line %d of the incoming harness", g, w, want.Pos.Line)
	for _, prompt := range []string{systemPrompt, userPrompt} {
		if text := "the assignment of " + prompt; got.Text == text || want.Text == text {
			e.Suggestion = fmt.Sprintf("the value of %s may change, but it stays where it stands in the incoming harness, or absent where it is absent", prompt)
		}
	}
	return e
}

// maxPart bounds a part's text in a message, in characters.
const maxPart = 100

// brieflySaid cuts a part's text for a message.
func brieflySaid(s string) string {
	s = OneLine(s)
	if utf8.RuneCountInString(s) <= maxPart {
		return s
	}
	return string([]rune(s)[:maxPart]) + "…"
}

// apart cuts two texts so that what differs is seen: of long strings that begin alike, the beginning is left out.
func apart(got, want string) (string, string) {
	const kind, context = "the string ", 20
	g, w := []rune(strings.TrimPrefix(got, kind)), []rune(strings.TrimPrefix(want, kind))
	same := 0
	for same < min(len(g), len(w)) && g[same] == w[same] {
		same++
	}
	if same < maxPart/2 || !strings.HasPrefix(got, kind) || !strings.HasPrefix(want, kind) {
		return brieflySaid(got), brieflySaid(want)
	}
	from := same - context
	return brieflySaid(kind + "…" + string(g[from:])), brieflySaid(kind + "…" + string(w[from:]))
}

func endOf(src []byte) syntax.Position {
	name := candidateName
	lines := strings.Split(string(src), "\n")
	return syntax.MakePosition(&name, int32(len(lines)), int32(utf8.RuneCountInString(lines[len(lines)-1])+1))
}
