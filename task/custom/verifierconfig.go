package custom

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/task/judge"
)

// VerifierConfig says what makes a final reply right. References are those of the example's answer fields; to give any of them is right.
type VerifierConfig struct {
	// Kind is one of
	//   exact        the reply is a reference, white space at the ends apart
	//   normalised   the reply is a reference, as SQuAD's script compares: no case, punctuation or articles
	//   numeric      the last number in the reply is the reference
	//   boxed        the content of the last \boxed{} or \fbox{} is right by compare (numeric if empty)
	//   tag          what stands in the last <answer> is right by compare (normalised if empty)
	//   regex        the last match of pattern, or of its first group, is right by compare (exact if empty)
	//   json_schema  the reply, or the last fenced block in it, is JSON that meets the schema
	//   judge        a language model says that the reply means a reference
	//   command      a program of the task's owner decides
	Kind    string `yaml:"kind"`
	Compare string `yaml:"compare"` // for boxed, tag and regex: exact, normalised, numeric, judge; for regex also none: a match is enough

	Tag       string        `yaml:"tag"`        // for tag: its name; empty: answer
	Pattern   string        `yaml:"pattern"`    // for regex: RE2
	TailChars int           `yaml:"tail_chars"` // for boxed: only in that many last characters; 0 = anywhere
	Schema    string        `yaml:"schema"`     // for json_schema: a file of the folder; it may refer to nothing outside itself
	Equal     bool          `yaml:"equal"`      // for json_schema: the JSON must equal a reference, too
	Judge     judge.Config  `yaml:"judge"`      // for judge, and compare judge
	Command   CommandConfig `yaml:"command"`    // for command; see Judged and Judgement
	Limits    Limits        `yaml:"limits"`     // for command
	Reply     string        `yaml:"reply"`      // a right reply, where {answer} stands for the reference: what `whale task check` gives to the verifier
}

// The kinds of verifiers, and the ways of comparing.
const (
	KindExact      = "exact"
	KindNormalised = "normalised"
	KindNumeric    = "numeric"
	KindBoxed      = "boxed"
	KindTag        = "tag"
	KindRegex      = "regex"
	KindJSONSchema = "json_schema"
	KindJudge      = "judge"
	KindCommand    = "command"
	CompareNone    = "none"
)

func kinds() []string {
	return []string{KindExact, KindNormalised, KindNumeric, KindBoxed, KindTag, KindRegex, KindJSONSchema, KindJudge, KindCommand}
}

// resolved fills in what the kind decides.
func (v VerifierConfig) resolved() VerifierConfig {
	set := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	switch v.Kind {
	case KindExact, KindNormalised, KindNumeric, KindJudge:
		set(&v.Compare, v.Kind)
		set(&v.Reply, "{answer}")
	case KindBoxed:
		set(&v.Compare, KindNumeric)
		set(&v.Reply, `\boxed{{answer}}`)
	case KindTag:
		set(&v.Compare, KindNormalised)
		set(&v.Tag, "answer")
		set(&v.Reply, "<"+v.Tag+">{answer}</"+v.Tag+">")
	case KindRegex:
		set(&v.Compare, KindExact)
	case KindCommand:
		set(&v.Reply, "{answer}")
	case KindJSONSchema:
		if v.Equal {
			set(&v.Reply, "{answer}")
		}
	}
	return v
}

// needsReference says whether an example must have a reference answer.
func (v VerifierConfig) needsReference() bool {
	switch v.Kind {
	case KindJSONSchema:
		return v.Equal
	case KindCommand:
		return false
	}
	return v.resolved().Compare != CompareNone
}

const maxPattern = 2000

var tagName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// Validate reports what is missing, out of range, or of no use to the kind.
func (v VerifierConfig) Validate() error {
	if !slices.Contains(kinds(), v.Kind) {
		return unknownWord("kind", v.Kind, kinds())
	}
	if err := v.foreign(); err != nil {
		return err
	}
	r := v.resolved()
	switch v.Kind {
	case KindBoxed, KindTag, KindRegex:
		ways := []string{KindExact, KindNormalised, KindNumeric, KindJudge}
		if v.Kind == KindRegex {
			ways = append(ways, CompareNone)
		}
		if !slices.Contains(ways, r.Compare) {
			return unknownWord("compare", r.Compare, ways)
		}
	}
	switch {
	case v.TailChars < 0:
		return fmt.Errorf("tail_chars: got %d, want 0 (anywhere) or more", v.TailChars)
	case v.Kind == KindTag && !tagName.MatchString(r.Tag):
		return fmt.Errorf("tag: got %q, want a name of letters, digits, dash and underscore", clip(v.Tag))
	case v.Kind == KindJSONSchema && v.Schema == "":
		return fmt.Errorf("schema: got none, want a file of the folder")
	case len(v.Reply) > 10_000:
		return fmt.Errorf("reply: got %d bytes, want at most 10000", len(v.Reply))
	}
	if v.Kind == KindRegex {
		if _, err := compile(v.Pattern); err != nil {
			return fmt.Errorf("pattern: %w", err)
		}
	}
	if v.Schema != "" {
		if err := localPath(v.Schema); err != nil {
			return fmt.Errorf("schema: %w", err)
		}
	}
	if r.Compare == KindJudge {
		if err := v.Judge.Validate(); err != nil {
			return fmt.Errorf("judge.%w", err)
		}
	}
	if v.Kind == KindCommand {
		if err := v.Command.validate(); err != nil {
			return fmt.Errorf("command.%w", err)
		}
		if v.Command.Output != "" && v.Command.Output != OutputJSON {
			return fmt.Errorf("command.output: got %q; a verifier answers json", v.Command.Output)
		}
	}
	return v.Limits.validate(true)
}

// foreign reports keys that the kind does not know: nothing is accepted and ignored.
func (v VerifierConfig) foreign() error {
	for _, k := range []struct {
		key   string
		set   bool
		kinds []string
	}{
		{"compare", v.Compare != "", []string{KindBoxed, KindTag, KindRegex}},
		{"tag", v.Tag != "", []string{KindTag}},
		{"pattern", v.Pattern != "", []string{KindRegex}},
		{"tail_chars", v.TailChars != 0, []string{KindBoxed}},
		{"schema", v.Schema != "", []string{KindJSONSchema}},
		{"equal", v.Equal, []string{KindJSONSchema}},
		{"command", given(v.Command), []string{KindCommand}},
		{"limits", given(v.Limits), []string{KindCommand}},
	} {
		if k.set && !slices.Contains(k.kinds, v.Kind) {
			return fmt.Errorf("%s: of no use to kind %s, only to %s", k.key, v.Kind, strings.Join(k.kinds, ", "))
		}
	}
	if v.Judge != judge.DefaultConfig() && v.resolved().Compare != KindJudge {
		return fmt.Errorf("judge: of no use to kind %s without compare: judge", v.Kind)
	}
	return nil
}

// compile reads a regular expression of bounded length.
func compile(pattern string) (*regexp.Regexp, error) {
	if pattern == "" || len(pattern) > maxPattern {
		return nil, fmt.Errorf("got %d bytes, want 1 to %d", len(pattern), maxPattern)
	}
	return regexp.Compile(pattern)
}
