package math

import (
	"errors"
	"fmt"
	"slices"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
	"github.com/seed-095d5d2b/whale/sandbox/python"
)

// The sources of problems.
const (
	SourceGenerated = "generated"
	SourceFiles     = "files"
)

// The tools that an episode may have.
const (
	ToolCalculator = "calculator"     // the built-in calculator: a part of Python, deterministic, a millisecond a call
	ToolPython     = "python"         // Python in a sandbox on this machine
	ToolFusion     = "sandbox_fusion" // Python on a SandboxFusion server
)

// What becomes of problems that are in the files more than once.
const (
	// RepeatsRefuse drops a problem that is in its split before with the same answer, and refuses one with another answer or in another split.
	RepeatsRefuse = "refuse"
	// RepeatsDrop drops what RepeatsRefuse refuses: all of a problem with several answers; and what two splits share stays in the one that is further from training (test,
	// validation, search, train).
	RepeatsDrop = "drop"
)

// Config is the task's configuration. Start from DefaultConfig: zeros are taken as they are.
type Config struct {
	Source     string                   `json:"source" yaml:"source"`                 // generated, or files
	Generator  GeneratorOptions         `json:"generator" yaml:"generator"`           // for source generated
	Files      map[whale.Split][]string `json:"files" yaml:"files"`                   // for source files: paths by split, of .jsonl or .csv (plain, .gz, .zst) or .parquet
	Repeats    string                   `json:"repeats" yaml:"repeats"`               // of problems in the files: refuse, or drop
	Draw       DrawOptions              `json:"draw" yaml:"draw"`                     // for source files: splits that are drawn from the train files
	Tool       string                   `json:"tool" yaml:"tool"`                     // calculator, python, or sandbox_fusion
	Calculator CalculatorLimits         `json:"calculator" yaml:"calculator"`         // of one call of tool calculator
	Python     python.Limits            `json:"python" yaml:"python"`                 // of one call of tool python
	Fusion     python.FusionOptions     `json:"sandbox_fusion" yaml:"sandbox_fusion"` // of tool sandbox_fusion
	Verifier   VerifierOptions          `json:"verifier" yaml:"verifier"`
}

// DrawOptions say what is drawn from the train files for splits that have no files of their own. Which examples are drawn depends on the seed and the texts alone.
type DrawOptions struct {
	Search     int    `json:"search" yaml:"search"`         // examples of split search
	Validation int    `json:"validation" yaml:"validation"` // examples of split validation
	Seed       uint64 `json:"seed" yaml:"seed"`             // another one draws others
	Shared     bool   `json:"shared" yaml:"shared"`         // the search examples stay in train too, as in the paper's code; no leaves the splits disjoint
}

// CalculatorLimits bound one call of the calculator. Steps, source and output decide; memory and wall time guard the worker against what
// they miss, and reaching one of those is the infrastructure's error (see calc.Calculator.Do). [Sandboxed] gives a calculator that keeps them; the environment cuts the output of any other.
type CalculatorLimits struct {
	Steps       uint64  `json:"steps" yaml:"steps"`               // interpreter steps
	MemoryBytes int64   `json:"memory_bytes" yaml:"memory_bytes"` // of the worker
	WallSeconds float64 `json:"wall_seconds" yaml:"wall_seconds"`
	SourceBytes int     `json:"source_bytes" yaml:"source_bytes"` // of the program
	OutputBytes int     `json:"output_bytes" yaml:"output_bytes"` // of output and of error text, each
}

// DefaultConfig gives generated problems and the whole reply as the place of the box.
func DefaultConfig() Config {
	return Config{
		Source:     SourceGenerated,
		Generator:  DefaultGeneratorOptions(),
		Repeats:    RepeatsRefuse,
		Tool:       ToolCalculator,
		Python:     python.DefaultLimits(),
		Fusion:     python.DefaultFusionOptions(),
		Verifier:   VerifierOptions{Kind: VerifierStrict},
		Calculator: CalculatorLimits{Steps: 1_000_000, MemoryBytes: 128 << 20, WallSeconds: 5, SourceBytes: 4096, OutputBytes: 4096},
	}
}

// Validate reports what is out of range or contradicts itself.
func (c Config) Validate() error {
	switch c.Source {
	case SourceGenerated:
		if len(c.Files) > 0 {
			return fmt.Errorf("files: got %d splits with source %q, want none, or source %q", len(c.Files), c.Source, SourceFiles)
		}
		if err := c.Generator.Validate(); err != nil {
			return err
		}
	case SourceFiles:
		if len(c.Files) == 0 {
			return fmt.Errorf("files: got none with source %q, want paths by split", c.Source)
		}
		for s, paths := range c.Files {
			if !slices.Contains(splits(), s) {
				return fmt.Errorf("files: got split %q, want one of %v", s, splits())
			}
			if len(paths) == 0 {
				return fmt.Errorf("files.%s: got no paths, want at least one", s)
			}
		}
	default:
		return fmt.Errorf("source: got %q, want %q or %q", c.Source, SourceGenerated, SourceFiles)
	}
	if err := c.Draw.validate(c); err != nil {
		return err
	}
	if c.Repeats != RepeatsRefuse && c.Repeats != RepeatsDrop {
		return fmt.Errorf("repeats: got %q, want %q or %q", c.Repeats, RepeatsRefuse, RepeatsDrop)
	}
	if err := c.validateTool(); err != nil {
		return err
	}
	return c.Verifier.Validate()
}

// validateTool looks at the limits of the tool that there is, and at the calculator's in any case, since workers are made for it.
func (c Config) validateTool() error {
	if err := c.Calculator.Validate(); err != nil {
		return err
	}
	switch c.Tool {
	case ToolCalculator:
	case ToolPython:
		if err := c.Python.Validate(); err != nil {
			return fmt.Errorf("python.%w", err)
		}
	case ToolFusion:
		if err := c.Fusion.Validate(); err != nil {
			return fmt.Errorf("sandbox_fusion.%w", err)
		}
	default:
		return fmt.Errorf("tool: got %q, want %q, %q or %q", c.Tool, ToolCalculator, ToolPython, ToolFusion)
	}
	return nil
}

func (o DrawOptions) validate(c Config) error {
	if o.Search < 0 {
		return fmt.Errorf("draw.search: got %d, want 0 or more", o.Search)
	}
	if o.Validation < 0 {
		return fmt.Errorf("draw.validation: got %d, want 0 or more", o.Validation)
	}
	if o == (DrawOptions{Seed: o.Seed}) {
		return nil
	}
	switch {
	case c.Source != SourceFiles || len(c.Files[whale.SplitTrain]) == 0:
		return fmt.Errorf("draw.search: got %d, and draw.validation: got %d, but there are no train files to draw from; want 0", o.Search, o.Validation)
	case o.Search > 0 && len(c.Files[whale.SplitSearch]) > 0:
		return fmt.Errorf("draw.search: got %d, but files.search names files already", o.Search)
	case o.Validation > 0 && len(c.Files[whale.SplitValidation]) > 0:
		return fmt.Errorf("draw.validation: got %d, but files.validation names files already", o.Validation)
	case o.Shared && o.Search == 0:
		return errors.New("draw.shared: got true without draw.search")
	}
	return nil
}

// No calculation of a model is worth an hour.
const maxWallSeconds = 3600

// leastWall is the shortest wall time, in seconds, that is a guard and does not decide: a million steps take some tenths.
func (l CalculatorLimits) leastWall() float64 { return 1 + float64(l.Steps)/1e6 }

// Validate reports limits that allow nothing, or that the calculator cannot keep.
func (l CalculatorLimits) Validate() error {
	leastMemory := max(sandbox.MinMemory, l.evaluation().Memory())
	switch {
	case l.Steps < 1 || l.Steps > calc.MaxSteps:
		return fmt.Errorf("calculator.steps: got %d, want 1 to %d", l.Steps, calc.MaxSteps)
	case l.MemoryBytes < leastMemory || l.MemoryBytes > sandbox.MaxMemory:
		return fmt.Errorf("calculator.memory_bytes: got %d, want %d to %d with %d steps", l.MemoryBytes, leastMemory, sandbox.MaxMemory, l.Steps)
	case !(l.WallSeconds >= l.leastWall() && l.WallSeconds <= maxWallSeconds):
		return fmt.Errorf("calculator.wall_seconds: got %v, want %v to %d with %d steps", l.WallSeconds, l.leastWall(), maxWallSeconds, l.Steps)
	case l.SourceBytes < 1 || l.SourceBytes > calc.MaxSource:
		return fmt.Errorf("calculator.source_bytes: got %d, want 1 to %d", l.SourceBytes, calc.MaxSource)
	case l.OutputBytes < 1 || l.OutputBytes > calc.MaxOutput:
		return fmt.Errorf("calculator.output_bytes: got %d, want 1 to %d", l.OutputBytes, calc.MaxOutput)
	}
	return nil
}
