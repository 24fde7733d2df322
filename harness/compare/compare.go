package compare

import (
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// MaxSource bounds a program to compare, in bytes: what a harness may have.
const MaxSource = star.MaxSource

// Source is a program. Its name's extension says in which language it is.
type Source struct {
	Name string
	Text []byte
}

// The changes of a prompt, function, constant or statement.
const (
	Added      = "added"
	Removed    = "removed"
	Changed    = "changed"
	Renamed    = "renamed"    // a function with the same body
	Comments   = "comments"   // only comments differ
	Formatting = "formatting" // only spaces, line breaks, parentheses or the spelling of literals differ
)

// Diff is how program B differs from program A.
type Diff struct {
	A        string `json:"a"`
	B        string `json:"b"`
	Language string `json:"language"` // "" where the two are of different languages
	Summary  string `json:"summary"`  // one line
	// Same says that B does what A does: it differs in comments and formatting at most. It is known of Starlark alone.
	Same       bool        `json:"same"`
	Prompts    []Prompt    `json:"prompts,omitempty"`
	Functions  []Function  `json:"functions,omitempty"`
	Constants  []Constant  `json:"constants,omitempty"`
	Statements []Statement `json:"statements,omitempty"`
	Moved      []Move      `json:"moved,omitempty"`
	Comments   bool        `json:"comments,omitempty"`   // comments differ, somewhere
	Formatting bool        `json:"formatting,omitempty"` // something differs that is neither meaning nor comment
	Lines      string      `json:"lines,omitempty"`      // of other languages than Starlark: the line diff of the whole file
	Notes      []string    `json:"notes,omitempty"`      // what a reader should know of how this was made
}

// Prompt is a change of SYSTEM_PROMPT or USER_PROMPT.
type Prompt struct {
	Name         string `json:"name"`
	Change       string `json:"change"`
	LineA        int    `json:"line_a,omitempty"` // from 1
	LineB        int    `json:"line_b,omitempty"`
	Before       Size   `json:"before"`
	After        Size   `json:"after"`
	WordsAdded   int    `json:"words_added"`
	WordsRemoved int    `json:"words_removed"`
	Edits        []Edit `json:"edits"` // they join to the old text without what is added, and to the new one without what is removed

	old, new string
}

// Size is the size of a prompt.
type Size struct {
	Words      int `json:"words"`
	Characters int `json:"characters"`
	Tokens     int `json:"tokens,omitempty"` // see [Diff.CountTokens]
}

// Edit is a span of a prompt.
type Edit struct {
	Change string `json:"change,omitempty"` // Added, Removed, or "" for what both have
	Text   string `json:"text"`
}

// Function is a change of a function at the top level.
type Function struct {
	Name   string `json:"name"`
	Was    string `json:"was,omitempty"` // the old name, of a renamed one
	Change string `json:"change"`
	LineA  int    `json:"line_a,omitempty"`
	LineB  int    `json:"line_b,omitempty"`
	Diff   string `json:"diff,omitempty"` // hunks of a unified diff; the line numbers are the file's
}

// Constant is a change of NAME = value at the top level.
type Constant struct {
	Name   string `json:"name"`
	Change string `json:"change"`
	LineA  int    `json:"line_a,omitempty"`
	LineB  int    `json:"line_b,omitempty"`
	Old    string `json:"old,omitempty"` // source text
	New    string `json:"new,omitempty"`
}

// Statement is another statement at the top level that one program has and the other has not.
type Statement struct {
	Change string `json:"change"` // Added or Removed
	Line   int    `json:"line"`
	Text   string `json:"text"`
}

// Move is a statement at the top level that stands elsewhere among those that both programs have.
type Move struct {
	Name  string `json:"name"`
	LineA int    `json:"line_a"`
	LineB int    `json:"line_b"`
}

// languages are the languages by extension.
var languages = map[string]string{
	".star": whale.LanguageStar, ".py": whale.LanguagePython, ".js": whale.LanguageNode, ".mjs": whale.LanguageNode,
}

func (s Source) language() (string, error) {
	ext := filepath.Ext(s.Name)
	lang, ok := languages[ext]
	if !ok {
		return "", fmt.Errorf("compare: %s: got the extension %q, want .star, .py, .js or .mjs", s.Name, ext)
	}
	if len(s.Text) > MaxSource {
		return "", fmt.Errorf("compare: %s: got %d bytes, want at most %d", s.Name, len(s.Text), MaxSource)
	}
	if !utf8.Valid(s.Text) {
		return "", fmt.Errorf("compare: %s: got bytes that are not UTF-8", s.Name)
	}
	return lang, nil
}

// Compare says how b differs from a. A Starlark program that does not parse is an error (star.Errors); other gates are not asked.
func Compare(a, b Source) (Diff, error) {
	langA, err := a.language()
	if err != nil {
		return Diff{}, err
	}
	langB, err := b.language()
	if err != nil {
		return Diff{}, err
	}
	d := Diff{A: a.Name, B: b.Name}
	if langA == langB {
		d.Language = langA
	} else {
		d.Notes = append(d.Notes, fmt.Sprintf("the languages differ, %s and %s", langA, langB))
	}
	if d.Language == whale.LanguageStar {
		err = d.byTree(a, b)
	} else {
		err = d.byLines(a, b, langA, langB)
	}
	if err != nil {
		return Diff{}, err
	}
	d.Summary = d.summarise(slices.Equal(a.Text, b.Text))
	return d, nil
}

// CountTokens adds the sizes of prompts in a model's tokens.
func (d *Diff) CountTokens(count func(text string) int) {
	for i := range d.Prompts {
		p := &d.Prompts[i]
		p.Before.Tokens, p.After.Tokens = count(p.old), count(p.new)
	}
}
