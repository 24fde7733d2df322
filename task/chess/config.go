package chess

import (
	"errors"
	"fmt"
)

// The sources of puzzles.
const (
	SourceGenerated = "generated"
	SourceLichess   = "lichess"
)

// Config is the task's configuration. Start from DefaultConfig: zeros are taken as they are.
type Config struct {
	Source         string           `json:"source" yaml:"source"`                   // SourceGenerated or SourceLichess
	Generator      GeneratorOptions `json:"generator" yaml:"generator"`             // for source generated
	Lichess        LichessOptions   `json:"lichess" yaml:"lichess"`                 // for source lichess
	Retries        Retries          `json:"retries" yaml:"retries"`                 // a cap: a harness may give up sooner
	AlternateMates bool             `json:"alternate_mates" yaml:"alternate_mates"` // accept any checkmate on the last move, as Lichess does
}

// LichessOptions say which puzzles of Lichess's file are taken.
type LichessOptions struct {
	Files   []string `json:"files" yaml:"files"`     // CSV with a header, plain, .zst or .gz
	Seed    uint64   `json:"seed" yaml:"seed"`       // of the sample, where there are more puzzles than the counts want
	Counts  Counts   `json:"counts" yaml:"counts"`   // too few is an error
	Rating  Range    `json:"rating" yaml:"rating"`   // of the puzzle
	Moves   Range    `json:"moves" yaml:"moves"`     // of the solver
	Themes  []string `json:"themes" yaml:"themes"`   // at least one of these; none = any
	Without []string `json:"without" yaml:"without"` // none of these
	MaxBad  float64  `json:"max_bad" yaml:"max_bad"` // share of rows that may be bad, 0 to 1; they are skipped and told of
}

// Range is an interval, both ends included. A maximum of 0 is none.
type Range struct {
	Min int `json:"min" yaml:"min"` // the least
	Max int `json:"max" yaml:"max"` // the most; 0 = no bound
}

func (r Range) has(n int) bool { return n >= r.Min && (r.Max == 0 || n <= r.Max) }

func (r Range) validate(key string) error {
	if r.Min < 0 {
		return fmt.Errorf("%s.min: got %d, want 0 or more", key, r.Min)
	}
	if r.Max < 0 || r.Max != 0 && r.Max < r.Min {
		return fmt.Errorf("%s.max: got %d, want 0 for no bound, or at least the minimum %d", key, r.Max, r.Min)
	}
	return nil
}

// maxRetries is the paper's cap.
const maxRetries = 10

// DefaultConfig gives generated puzzles, and the paper's cap on retries.
func DefaultConfig() Config {
	return Config{
		Source:    SourceGenerated,
		Generator: DefaultGeneratorOptions(),
		Lichess:   LichessOptions{Seed: 1, Counts: Counts{Train: 16_384, Search: 256, Validation: 256, Test: 256}, MaxBad: 0.001},
		Retries:   Retries{Format: maxRetries, Illegal: maxRetries},
	}
}

// Validate reports what is out of range or contradicts itself.
func (c Config) Validate() error {
	switch c.Source {
	case SourceGenerated:
		if len(c.Lichess.Files) > 0 {
			return fmt.Errorf("lichess.files: got %d with source %q, want none, or source %q", len(c.Lichess.Files), c.Source, SourceLichess)
		}
		if err := c.Generator.Validate(); err != nil {
			return err
		}
	case SourceLichess:
		if err := c.Lichess.Validate(); err != nil {
			return err
		}
	default:
		return fmt.Errorf("source: got %q, want %q or %q", c.Source, SourceGenerated, SourceLichess)
	}
	if n := c.Retries.Format; n < 0 || n > maxRetries {
		return fmt.Errorf("retries.format: got %d, want 0 to %d", n, maxRetries)
	}
	if n := c.Retries.Illegal; n < 0 || n > maxRetries {
		return fmt.Errorf("retries.illegal: got %d, want 0 to %d", n, maxRetries)
	}
	return nil
}

// Validate reports options out of range.
func (o LichessOptions) Validate() error {
	if len(o.Files) == 0 {
		return errors.New("lichess.files: got none, want the path of a puzzle file")
	}
	for _, list := range []struct {
		key   string
		texts []string
	}{{"files", o.Files}, {"themes", o.Themes}, {"without", o.Without}} {
		for i, s := range list.texts {
			if s == "" {
				return fmt.Errorf("lichess.%s[%d]: got an empty text", list.key, i)
			}
		}
	}
	for _, err := range []error{validateCounts(o.Counts, "lichess.counts"), o.Rating.validate("lichess.rating"), o.Moves.validate("lichess.moves")} {
		if err != nil {
			return err
		}
	}
	if !(o.MaxBad >= 0 && o.MaxBad <= 1) {
		return fmt.Errorf("lichess.max_bad: got %v, want 0 to 1", o.MaxBad)
	}
	return nil
}
