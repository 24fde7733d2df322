package searchqa

import (
	"fmt"
	"slices"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/judge"
	"github.com/seed-095d5d2b/whale/task/rows"
	"github.com/seed-095d5d2b/whale/task/searchqa/bm25"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
	"github.com/seed-095d5d2b/whale/task/searchqa/retriever"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

// The sources of questions.
const (
	SourceGenerated = "generated"
	SourceFiles     = "files"
)

// Config is the task's configuration. Start from DefaultConfig: zeros are taken as they are.
type Config struct {
	Source    string                        `json:"source" yaml:"source"`       // SourceGenerated or SourceFiles
	Generator world.Options                 `json:"generator" yaml:"generator"` // for source generated
	Files     map[whale.Split][]FileOptions `json:"files" yaml:"files"`         // for source files: by split
	Fields    FieldOptions                  `json:"fields" yaml:"fields"`       // of the rows of files
	DrawSeed  uint64                        `json:"draw_seed" yaml:"draw_seed"` // which rows are drawn where a file has more than are wanted
	Retrieval RetrievalOptions              `json:"retrieval" yaml:"retrieval"` // who searches
	Search    SearchOptions                 `json:"search" yaml:"search"`       // the tool
	Verifier  VerifierOptions               `json:"verifier" yaml:"verifier"`
}

// FileOptions name a file and how many of its questions a split takes.
type FileOptions struct {
	Path  string `json:"path" yaml:"path"`   // .jsonl or .csv (plain, .gz, .zst) or .parquet
	Count int    `json:"count" yaml:"count"` // questions drawn from it; 0 = all that no split has taken
}

// FieldOptions say where in a row question and answers stand: the first path that is there counts.
type FieldOptions struct {
	Question []string `json:"question" yaml:"question"` // the text that the agent sees
	Answers  []string `json:"answers" yaml:"answers"`   // a text, or a list of texts any of which is right
	Source   []string `json:"source" yaml:"source"`     // where the row comes from, for reports; may be absent
}

// The kinds of retrieval.
const (
	RetrievalMemory = "memory" // the generated articles
	RetrievalIndex  = "index"  // a folder that whale task searchqa index made
	RetrievalHTTP   = "http"   // servers of the Search-R1 protocol
)

// RetrievalOptions say who searches what.
type RetrievalOptions struct {
	Kind     string           `json:"kind" yaml:"kind"`         // RetrievalMemory, RetrievalIndex or RetrievalHTTP
	Analyzer string           `json:"analyzer" yaml:"analyzer"` // bm25.Plain or bm25.English, for kind memory
	Index    string           `json:"index" yaml:"index"`       // the folder, for kind index
	HTTP     retriever.Config `json:"http" yaml:"http"`         // for kind http
}

// SearchOptions bound the tool.
type SearchOptions struct {
	TopK         int `json:"top_k" yaml:"top_k"`                 // passages where the caller names no number
	MaxTopK      int `json:"max_top_k" yaml:"max_top_k"`         // passages at most
	QueryChars   int `json:"query_chars" yaml:"query_chars"`     // of a query; a longer one is the caller's error
	PassageChars int `json:"passage_chars" yaml:"passage_chars"` // of a passage's text; the rest is cut off
}

// The kinds of verifier.
const (
	VerifierExact = "exact" // exact match as of SQuAD
	VerifierJudge = "judge" // a language model, and exact match where it fails
)

// VerifierOptions are the settings of the verifier.
type VerifierOptions struct {
	Kind  string       `json:"kind" yaml:"kind"`   // VerifierExact or VerifierJudge
	Judge judge.Config `json:"judge" yaml:"judge"` // for kind judge
}

// DefaultConfig gives generated questions, searched in memory, and exact match.
func DefaultConfig() Config {
	return Config{
		Source:    SourceGenerated,
		Generator: world.DefaultOptions(),
		Fields: FieldOptions{
			Question: []string{"extra_info.question", "question", "problem", "prompt[0].content"},
			Answers:  []string{"extra_info.answer", "golden_answers", "reward_model.ground_truth.target", "reward_model.ground_truth", "answers", "answer"},
			Source:   []string{"data_source"},
		},
		DrawSeed:  1,
		Retrieval: RetrievalOptions{Kind: RetrievalMemory, Analyzer: bm25.Plain, HTTP: retriever.DefaultConfig()},
		Search:    SearchOptions{TopK: 1, MaxTopK: 10, QueryChars: 500, PassageChars: 4000},
		Verifier:  VerifierOptions{Kind: VerifierExact, Judge: judge.DefaultConfig()},
	}
}

func splits() []whale.Split {
	return []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation, whale.SplitTest}
}

// Validate reports what is out of range or contradicts itself. Errors begin with the key.
func (c Config) Validate() error {
	if err := c.validateSource(); err != nil {
		return err
	}
	if err := c.Retrieval.validate(c.Source); err != nil {
		return err
	}
	if err := c.Search.validate(); err != nil {
		return err
	}
	switch c.Verifier.Kind {
	case VerifierExact:
	case VerifierJudge:
		if err := c.Verifier.Judge.Validate(); err != nil {
			return fmt.Errorf("verifier.judge.%w", err)
		}
	default:
		return fmt.Errorf("verifier.kind: got %q, want %q or %q", c.Verifier.Kind, VerifierExact, VerifierJudge)
	}
	return nil
}

func (c Config) validateSource() error {
	switch c.Source {
	case SourceGenerated:
		if len(c.Files) > 0 {
			return fmt.Errorf("files: got %d splits with source %q, want none, or source %q", len(c.Files), c.Source, SourceFiles)
		}
		return c.Generator.Validate()
	case SourceFiles:
	default:
		return fmt.Errorf("source: got %q, want %q or %q", c.Source, SourceGenerated, SourceFiles)
	}
	if len(c.Files) == 0 {
		return fmt.Errorf("files: got none with source %q, want files by split", c.Source)
	}
	for s, files := range c.Files {
		if !slices.Contains(splits(), s) {
			return fmt.Errorf("files: got split %q, want one of %v", s, splits())
		}
		if len(files) == 0 {
			return fmt.Errorf("files.%s: got no files, want at least one", s)
		}
		for i, f := range files {
			if f.Path == "" {
				return fmt.Errorf("files.%s[%d].path: got none, want a file", s, i)
			}
			if f.Count < 0 || f.Count > maxExamples {
				return fmt.Errorf("files.%s[%d].count: got %d, want 0 (all) to %d", s, i, f.Count, maxExamples)
			}
		}
	}
	return c.Fields.validate()
}

func (f FieldOptions) validate() error {
	for key, paths := range map[string][]string{"question": f.Question, "answers": f.Answers, "source": f.Source} {
		if len(paths) == 0 && key != "source" {
			return fmt.Errorf("fields.%s: got none, want at least one path, such as extra_info.%s", key, key)
		}
		for i, p := range paths {
			if err := rows.CheckPath(p); err != nil {
				return fmt.Errorf("fields.%s[%d]: %w", key, i, err)
			}
		}
	}
	return nil
}

func (r RetrievalOptions) validate(source string) error {
	if kinds := []string{RetrievalMemory, RetrievalIndex, RetrievalHTTP}; !slices.Contains(kinds, r.Kind) {
		return fmt.Errorf("retrieval.kind: got %q, want one of %q", r.Kind, kinds)
	}
	if (r.Kind == RetrievalMemory) != (source == SourceGenerated) {
		return fmt.Errorf("retrieval.kind: got %q with source %q: %q searches the articles of source %q, and nothing else does", r.Kind, source, RetrievalMemory, SourceGenerated)
	}
	switch r.Kind {
	case RetrievalMemory:
		if !slices.Contains(bm25.Analyzers(), r.Analyzer) {
			return fmt.Errorf("retrieval.analyzer: got %q, want one of %q", r.Analyzer, bm25.Analyzers())
		}
	case RetrievalIndex:
		if r.Index == "" {
			return fmt.Errorf("retrieval.index: got none with kind %q, want a folder that whale task searchqa index made", r.Kind)
		}
	case RetrievalHTTP:
		if err := r.HTTP.Validate(); err != nil {
			return fmt.Errorf("retrieval.http.%w", err)
		}
	default:
		return fmt.Errorf("retrieval.kind: got %q, want %q, %q or %q", r.Kind, RetrievalMemory, RetrievalIndex, RetrievalHTTP)
	}
	return nil
}

func (s SearchOptions) validate() error {
	switch {
	case s.MaxTopK < 1 || s.MaxTopK > retriever.MaxTopK:
		return fmt.Errorf("search.max_top_k: got %d, want 1 to %d", s.MaxTopK, retriever.MaxTopK)
	case s.TopK < 1 || s.TopK > s.MaxTopK:
		return fmt.Errorf("search.top_k: got %d, want 1 to search.max_top_k, which is %d", s.TopK, s.MaxTopK)
	case s.QueryChars < 1 || s.QueryChars > retriever.MaxQuery/4:
		return fmt.Errorf("search.query_chars: got %d, want 1 to %d", s.QueryChars, retriever.MaxQuery/4)
	case s.PassageChars < 1 || s.PassageChars > corpus.MaxText:
		return fmt.Errorf("search.passage_chars: got %d, want 1 to %d", s.PassageChars, corpus.MaxText)
	}
	return nil
}
