package process

import (
	"slices"
	"sync"
)

// grammar is a side's tables made ready for a decoder.
type grammar struct {
	names []string           // of all fields of all messages of the side
	forms map[[2]string]form // by type and op
	kinds []string           // the types that any program may send
	ops   []string
}

// form is which fields a message may and must have, as bits of the grammar's names.
type form struct{ allowed, required, worker uint64 }

func newGrammar(messages []message) *grammar {
	g := &grammar{names: []string{"type"}, forms: map[[2]string]form{}}
	index := func(name string) int {
		if i := slices.Index(g.names, name); i >= 0 {
			return i
		}
		g.names = append(g.names, name)
		return len(g.names) - 1
	}
	for _, m := range messages {
		f := form{allowed: 1, required: 1}
		for _, x := range m.fields {
			bit := uint64(1) << index(x.name)
			f.allowed |= bit
			if x.required {
				f.required |= bit
			}
			if x.worker {
				f.worker |= bit
			}
		}
		if m.worker {
			f.worker |= 1
		}
		g.forms[[2]string{m.kind, m.op}] = f
		if !m.worker && !slices.Contains(g.kinds, m.kind) {
			g.kinds = append(g.kinds, m.kind)
		}
		if m.op != "" {
			g.ops = append(g.ops, m.op)
		}
	}
	return g
}

// check holds the fields of a message against its form. op is that of a request.
func (g *grammar) check(kind, op string, seen uint64, worker bool) error {
	what := kind
	if kind == TypeRequest {
		what += " " + op
	} else {
		op = ""
	}
	f, ok := g.forms[[2]string{kind, op}]
	switch {
	case seen&1 == 0:
		return violate("the field type is missing")
	case !ok && kind == TypeRequest && op == "":
		return violate("request: the field op is missing")
	case !ok && kind == TypeRequest:
		return violate("request: got the op %s, want one of %s", brief(op), join(g.ops))
	case !ok || !worker && f.worker&1 != 0:
		return violate("got a message of type %s, want one of %s", brief(kind), join(g.kinds))
	}
	if !worker {
		f.allowed &^= f.worker
	}
	for i, n := range g.names {
		bit := uint64(1) << i
		switch {
		case seen&bit != 0 && f.allowed&bit == 0:
			return violate("%s: got the field %s, which it does not have", what, n)
		case seen&bit == 0 && f.required&bit != 0:
			return violate("%s: the field %s is missing", what, n)
		}
	}
	return nil
}

// The grammars are made once, at their first use.
var (
	programGrammar = sync.OnceValue(func() *grammar { return newGrammar(programMessages()) })
	hostGrammar    = sync.OnceValue(func() *grammar { return newGrammar(hostMessages()) })
)
