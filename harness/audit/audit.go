package audit

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Options say what else counts as known of the examples, and where the limits lie. A zero threshold means its default.
type Options struct {
	Names  []string // names of datasets, tasks and sources; those that are ordinary words ("math", "test") are not looked for
	Public []string // texts that any program may quote: the task's description, descriptions of tools, the contract

	NGram       int     // words in a row that make a quotation, where they are specific; default 8
	Chance      float64 // how likely evidence from numbers may be in a program that knows no example; default 0.001
	Answers     float64 // weight of answers that a program may hold: a long one weighs 1, a short word 0.5, one in prose half; default 3
	RareShare   float64 // share of the examples up to which a branch singles them out; default 0.01, and at least 2 examples
	Numbers     int     // numbers that are neither round nor usual which a program's tables may hold; default 24
	OpaqueBytes int     // bytes of text that is neither words nor a pattern; default 64
}

// The defaults of [Options].
const (
	DefaultNGram       = 8
	DefaultChance      = 1e-3
	DefaultAnswers     = 3.0
	DefaultRareShare   = 0.01
	DefaultNumbers     = 24
	DefaultOpaqueBytes = 64
)

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.NGram < 0 || o.NGram > 0 && o.NGram < 5:
		return o, fmt.Errorf("audit: n-gram: got %d words, want at least 5", o.NGram)
	case !(o.Chance >= 0 && o.Chance < 1):
		return o, fmt.Errorf("audit: chance: got %v, want 0 to 1", o.Chance)
	case !(o.RareShare >= 0 && o.RareShare < 1):
		return o, fmt.Errorf("audit: rare share: got %v, want 0 to 1", o.RareShare)
	case !(o.Answers >= 0):
		return o, fmt.Errorf("audit: answers: got %v, want a weight", o.Answers)
	case o.Numbers < 0 || o.OpaqueBytes < 0:
		return o, fmt.Errorf("audit: got %d numbers and %d opaque bytes, want neither below 0", o.Numbers, o.OpaqueBytes)
	}
	o.NGram = cmp.Or(o.NGram, DefaultNGram)
	o.Chance = cmp.Or(o.Chance, DefaultChance)
	o.Answers = cmp.Or(o.Answers, DefaultAnswers)
	o.RareShare = cmp.Or(o.RareShare, DefaultRareShare)
	o.Numbers = cmp.Or(o.Numbers, DefaultNumbers)
	o.OpaqueBytes = cmp.Or(o.OpaqueBytes, DefaultOpaqueBytes)
	return o, nil
}

// Finding is a place of a program that breaks a rule. Its message speaks of the program alone: it holds nothing of the examples that does
// not stand in the program, and does not say which example or answer was met.
type Finding struct {
	Rule       string `json:"rule"` // the name of one of [Rules]
	Line       int    `json:"line"` // from 1
	Col        int    `json:"col"`  // from 1, in characters
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
}

// maxSource is the largest program that is looked at, in bytes: four times what the contract allows.
const maxSource = 256 << 10

// maxFindings bounds the findings of one program: whoever breaks a rule fifty times need not be told more.
const maxFindings = 50

// Audit looks at a program; name's extension says in which language. The findings are sorted by place; none means that nothing was
// found. The error is for a program that cannot be read: an unknown extension, or one that does not parse.
func (c *Corpus) Audit(name string, src []byte) ([]Finding, error) {
	if len(src) > maxSource {
		return nil, fmt.Errorf("audit: %s: got %d bytes, want at most %d", name, len(src), maxSource)
	}
	p := newProgram()
	var err error
	switch ext := filepath.Ext(name); ext {
	case ".star":
		err = readStar(p, name, src)
	case ".py":
		err = readTokens(p, python, src)
	case ".js", ".mjs":
		err = readTokens(p, javascript, src)
	default:
		return nil, fmt.Errorf("audit: %s: got the extension %q, want .star, .py, .js or .mjs", name, ext)
	}
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return c.judge(p), nil
}

// judge runs the rules over what was read of a program.
func (c *Corpus) judge(p *program) []Finding {
	j := &judge{Corpus: c, program: p}
	p.decode()
	j.namesAndIDs()
	j.quotes()
	j.numberSequences()
	j.numberHints()
	j.answerTexts()
	j.spelled()
	j.numberTables()
	j.pairs()
	j.judgeTests()
	j.judgeBranches()
	j.judgeLookups()
	j.volume()
	return j.sorted()
}

// judge collects findings of one program.
type judge struct {
	*Corpus
	*program
	found     []Finding
	views     []view
	shapes    map[string]int
	columns   map[string][]any // of derivations, by key
	tallies   map[string]map[any]int
	evaluated int
	scans     int
	matched   int
}

// report adds a finding.
func (j *judge) report(rule string, at place, format string, args ...any) {
	j.found = append(j.found, Finding{
		Rule: rule, Line: max(1, at.line), Col: max(1, at.col), Message: fmt.Sprintf(format, args...), Suggestion: suggestion(rule),
	})
}

// reportSecret adds a finding about what no program should know, at the place of the whole table or text.
func (j *judge) reportSecret(rule string, at place, format string, args ...any) {
	if outer := j.enclosing(at); outer != at {
		at, format, args = outer, "this table: "+secretIn[rule], nil
	}
	j.report(rule, at, format, args...)
}

// secretIn says of a whole table what breaks a rule.
var secretIn = map[string]string{
	RuleAnswer: "several of its texts are answers of examples", RuleSpelled: "answers of examples are put together in it",
	RuleID: "it holds ids of examples",
}

// maxTold is how many places of a rule about answers and ids are told at a time: who guesses answers is not to be told which are right.
var maxTold = map[string]int{RuleAnswer: 3, RuleSpelled: 3, RuleID: 3, RulePairs: 1}

// sorted gives the findings by place, each place and rule once.
func (j *judge) sorted() []Finding {
	slices.SortFunc(j.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
	j.found = slices.CompactFunc(j.found, func(a, b Finding) bool { return a.Line == b.Line && a.Col == b.Col && a.Rule == b.Rule })
	told := map[string]int{}
	j.found = slices.DeleteFunc(j.found, func(f Finding) bool {
		told[f.Rule]++
		most, ok := maxTold[f.Rule]
		return ok && told[f.Rule] > most
	})
	return j.found[:min(len(j.found), maxFindings)]
}
