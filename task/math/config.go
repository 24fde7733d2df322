package math

import (
	"fmt"
	"slices"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
)

// The sources of problems.
const (
	SourceGenerated = "generated"
	SourceFiles     = "files"
)

// Config is the task's configuration. Start from DefaultConfig: zeros are taken as they are.
type Config struct {
	Source     string                   `json:"source" yaml:"source"`         // SourceGenerated or SourceFiles
	Generator  GeneratorOptions         `json:"generator" yaml:"generator"`   // for source generated
	Files      map[whale.Split][]string `json:"files" yaml:"files"`           // for source files: JSONL paths by split
	Calculator CalculatorLimits         `json:"calculator" yaml:"calculator"` // of one tool call
	Verifier   VerifierOptions          `json:"verifier" yaml:"verifier"`
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
	if err := c.Calculator.Validate(); err != nil {
		return err
	}
	return c.Verifier.Validate()
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
