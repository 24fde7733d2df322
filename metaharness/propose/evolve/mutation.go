package evolve

import "strings"

// The kinds of edits, as they stand in a candidate's operators.
const (
	opConstant  = "constant"  // an integer
	opChoice    = "choice"    // one of a parameter's choices
	opBoolean   = "boolean"   // True or False
	opSay       = "say"       // a sentence more in a prompt
	opUnsay     = "unsay"     // a sentence less
	opReorder   = "reorder"   // two sentences change places
	opReword    = "reword"    // another text for an argument
	opArgument  = "argument"  // an argument more
	opBundle    = "bundle"    // two arguments of one axis more
	opWithout   = "without"   // an argument less
	opPart      = "part"      // another function in a role
	opLocal     = "local"     // another program's own function in a role
	opCrossover = "crossover" // another program's function or constant of the same name
	opOption    = "option"    // an option that the task's description shows
	opSubject   = "subject"   // another text of those that the description shows
	opBeside    = "beside"    // a second one after it
)

// priors are the weights of kinds before any evidence.
var priors = map[string]float64{
	opConstant: 1, opChoice: 0.5, opBoolean: 0.4, opSay: 0.35, opUnsay: 0.15, opReorder: 0.05, opReword: 0.5,
	opArgument: 0.8, opBundle: 1, opWithout: 0.08, opPart: 0.5, opLocal: 0.25, opCrossover: 0.5,
	opOption: 2, opSubject: 0.3, opBeside: 0.3, opDetail: 2, opPatience: 2,
	opBound: 2, opConverse: 2, opRemind: 2, opInsist: 2, opFocus: 2, opPresent: 2, opUncut: 2, opLookup: 2,
}

// mutation is one possible edit of a program.
type mutation struct {
	op     string
	target string // what it edits: a constant, a parameter, a function
	detail string // which way, where that can be learnt from: up, down, a part's name
	axis   axis
	what   string // for people
	edits  []edit
	weight float64 // among the mutations of its group
	scale  float64 // of its group; 0 means 1
}

// group gathers mutations that differ only in a value. A group's chance does not grow with the number of its values.
func (m *mutation) group() string { return m.op + " " + m.target + " " + string(m.axis) }

// key is how a mutation is known to the archive: in the operators of its candidate.
func (m *mutation) key() string {
	return strings.TrimSpace(m.op + " " + m.target + " " + m.detail)
}

// mutations lists every edit of a parent that this package knows, in a fixed order.
func (s *session) mutations(p *program, parent *archived) []mutation {
	e := s.evidenceOf(parent)
	var out []mutation
	out = append(out, constantEdits(p, e)...)
	out = append(out, argumentEdits(p, s.ws.lib, e)...)
	out = append(out, promptEdits(p, e, s.minedOf(parent))...)
	out = append(out, crossovers(p, parent, s.ws.programs)...)
	out = append(out, exampleEdits(p, e)...)
	out = append(out, techniques(p, e)...)
	if s.promptOnly {
		out = ofPrompts(out)
	}
	return out
}

// ofParent is mutations of an archived program as it stands.
func (s *session) ofParent(a *archived) []mutation {
	known := s.cache[a.line.ID]
	if known.mutations == nil {
		known.mutations = s.mutations(a.program, a)
	}
	return known.mutations
}
