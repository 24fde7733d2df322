package custom

import (
	"fmt"
	"os"
	"path/filepath"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/strictyaml"
	"github.com/seed-095d5d2b/whale/task/judge"
)

// ManifestFile is the file of a task's folder that says what the task is.
const ManifestFile = "task.yaml"

// Manifest is what task.yaml says. Start from DefaultManifest.
type Manifest struct {
	Name     string            `yaml:"name"`     // of the task: letters, digits, dot, dash and underscore, at most 64
	About    string            `yaml:"about"`    // what agents and proposers are told of the task, a few lines; what fields and tools there are is added
	Data     DataConfig        `yaml:"data"`     // where the examples are
	View     map[string]string `yaml:"view"`     // what the agent sees: its name for a field → the field's path in a row, such as extra_info.question
	Optional []string          `yaml:"optional"` // names of the view whose fields a row may leave out, or empty; the agent then sees an empty text
	ID       string            `yaml:"id"`       // path of the field that names an example; empty: examples are named by the hash of their view
	Answer   []string          `yaml:"answer"`   // paths of fields with reference answers, each a text or a list of texts: to give any of them is right
	Meta     map[string]string `yaml:"meta"`     // name → path of a field that reports may show and agents may not see
	Verifier VerifierConfig    `yaml:"verifier"` // what makes a reply right
	Tools    []ToolConfig      `yaml:"tools"`
	Rules    RulesConfig       `yaml:"rules"`   // what a harness may not write itself
	Limits   Limits            `yaml:"limits"`  // of one call of any tool or verifier command; each may set its own
	Harness  string            `yaml:"harness"` // the first harness, a file of the folder
}

// DataConfig says where the examples are: files of single splits, files that are divided among splits, or both.
type DataConfig struct {
	Root     string   `yaml:"root"`      // folder of the files; relative to the task's folder, or to the one that root_env names
	RootEnv  string   `yaml:"root_env"`  // name of an environment variable with a folder, for data that does not lie with the task
	Splits   PerSplit `yaml:"splits"`    // files of single splits
	Divide   Division `yaml:"divide"`    // files that are divided
	Same     string   `yaml:"same"`      // when two views are the same: normalised (lower case, white space single), or exact
	RowBytes int      `yaml:"row_bytes"` // most bytes of a row
	BadShare float64  `yaml:"bad_share"` // the share of rows of a file that may be bad and are left out; 0 = none
	MiB      int      `yaml:"mib"`       // most memory for all examples
}

// PerSplit lists files by split, under the data's root.
type PerSplit struct {
	Train      []string `yaml:"train"`      // weight phases
	Search     []string `yaml:"search"`     // harness phases
	Validation []string `yaml:"validation"` // choice of a reported pair
	Test       []string `yaml:"test"`       // opened only by the evaluator
}

// Division deals the examples of files out to splits by a seeded hash of what the agent sees: by percent, where an example stays in its split
// whatever is added to the files, or by count, where a split has exactly so many.
type Division struct {
	Files   []string   `yaml:"files"`
	Seed    uint64     `yaml:"seed"`
	Percent SplitSizes `yaml:"percent"` // adds up to 100
	Counts  SplitSizes `yaml:"counts"`  // what is left over belongs to no split
}

// SplitSizes are numbers by split.
type SplitSizes struct {
	Train      int `yaml:"train"`
	Search     int `yaml:"search"`
	Validation int `yaml:"validation"`
	Test       int `yaml:"test"`
}

// When two views are the same.
const (
	SameNormalised = "normalised"
	SameExact      = "exact"
)

// RulesConfig says what a harness may not write itself, beside the tool arguments that are marked as authored.
type RulesConfig struct {
	Patterns []PatternConfig `yaml:"patterns"` // forms of text that may stand in messages of a harness only inside what the environment gave
	Fold     []string        `yaml:"fold"`     // how texts are changed before an authored argument is looked for in a reply: lower, space; in this order
}

// PatternConfig is one form of text.
type PatternConfig struct {
	Name  string `yaml:"name"`  // for messages: "move"
	Regex string `yaml:"regex"` // RE2; meets the text after NFKC and without characters that show nothing
}

// Limits bound one call. A zero in a tool or verifier means the task's. The run's limits.tool_seconds, which is over all of them, should be the longer one.
type Limits struct {
	Seconds     float64 `yaml:"seconds"`      // until it is stopped
	OutputBytes int     `yaml:"output_bytes"` // of its answer
	AtOnce      int     `yaml:"at_once"`      // calls of one tool at a time; others wait, and waiting does not count
	MemoryMiB   int     `yaml:"memory_mib"`   // of a sandboxed command
}

// DefaultManifest is the manifest before task.yaml is read.
func DefaultManifest() Manifest {
	return Manifest{
		Data:     DataConfig{Same: SameNormalised, RowBytes: 1 << 20, BadShare: 0.001, MiB: 1024},
		Verifier: VerifierConfig{Judge: judge.DefaultConfig()},
		Limits:   Limits{Seconds: 10, OutputBytes: 8 << 10, AtOnce: 4, MemoryMiB: 256},
		Harness:  "h0.star",
	}
}

// manifestBytes bounds task.yaml.
const manifestBytes = 1 << 20

// ReadManifest reads task.yaml of a folder and checks all that can be checked without the data.
func ReadManifest(folder string) (Manifest, error) {
	name := filepath.Join(folder, ManifestFile)
	data, err := readRegular(name, manifestBytes)
	if err != nil {
		if os.IsNotExist(err) {
			return Manifest{}, fmt.Errorf("custom: %s: not there; a task is a folder with a %s", name, ManifestFile)
		}
		return Manifest{}, fmt.Errorf("custom: %w", err)
	}
	return parseManifest(name, data)
}

func parseManifest(name string, data []byte) (Manifest, error) {
	m := DefaultManifest()
	if err := strictyaml.Decode(name, data, &m); err != nil {
		return Manifest{}, fmt.Errorf("custom: %w", err)
	}
	if err := m.Validate(); err != nil {
		return Manifest{}, fmt.Errorf("custom: %s: %w", name, err)
	}
	return m, nil
}

func splits() []whale.Split {
	return []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation, whale.SplitTest}
}

func (p PerSplit) of(s whale.Split) []string {
	switch s {
	case whale.SplitTrain:
		return p.Train
	case whale.SplitSearch:
		return p.Search
	case whale.SplitValidation:
		return p.Validation
	}
	return p.Test
}

func (z SplitSizes) of(s whale.Split) int {
	switch s {
	case whale.SplitTrain:
		return z.Train
	case whale.SplitSearch:
		return z.Search
	case whale.SplitValidation:
		return z.Validation
	}
	return z.Test
}

// with fills in what a tool leaves to the task.
func (l Limits) with(task Limits) Limits {
	if l.Seconds == 0 {
		l.Seconds = task.Seconds
	}
	if l.OutputBytes == 0 {
		l.OutputBytes = task.OutputBytes
	}
	if l.AtOnce == 0 {
		l.AtOnce = task.AtOnce
	}
	if l.MemoryMiB == 0 {
		l.MemoryMiB = task.MemoryMiB
	}
	return l
}
