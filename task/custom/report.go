package custom

import (
	"fmt"
	"io"

	whale "github.com/seed-095d5d2b/whale"
)

// Report is what [Check] finds.
type Report struct {
	Name     string       `json:"name"`
	ID       whale.ID     `json:"id,omitempty"` // "" where the task could not be opened
	Splits   []SplitCount `json:"splits"`
	Files    []FileCount  `json:"files"`
	Left     int          `json:"left"`              // examples of divided files that belong to no split
	Repeated int          `json:"repeated"`          // rows that were dropped as repetitions
	Verified int          `json:"verified"`          // reference answers that were given to the verifier
	Skipped  string       `json:"skipped,omitempty"` // why reference answers were not, or not all, given to it; "" = all were
	Tools    []string     `json:"tools"`             // names
	Episodes []Trial      `json:"episodes"`          // that were run
	Problems []Problem    `json:"problems"`          // what must be mended
	Warnings []Problem    `json:"warnings"`          // what a person should look at

	MoreProblems int `json:"more_problems,omitempty"` // that are not listed
	MoreWarnings int `json:"more_warnings,omitempty"`
}

// SplitCount is the size of a split.
type SplitCount struct {
	Split    whale.Split `json:"split"`
	Examples int         `json:"examples"`
}

// FileCount is the size of a file.
type FileCount struct {
	Path string `json:"path"`
	Rows int64  `json:"rows"` // bad ones included
}

// Problem is one thing that is wrong.
type Problem struct {
	At   string `json:"at,omitempty"` // file and row, or key; "" where the text tells
	Text string `json:"text"`
}

func (p Problem) String() string {
	if p.At == "" {
		return p.Text
	}
	return p.At + ": " + p.Text
}

// Trial is an episode that was run for the report.
type Trial struct {
	Split   whale.Split    `json:"split"`
	Example string         `json:"example"` // id
	Rollout *whale.Rollout `json:"rollout"`
}

// mostProblems is how many problems, and how many warnings, a report keeps.
const mostProblems = 200

func (r *Report) problem(at, text string) { note(&r.Problems, &r.MoreProblems, at, text) }
func (r *Report) warn(at, text string)    { note(&r.Warnings, &r.MoreWarnings, at, text) }

func note(list *[]Problem, more *int, at, text string) {
	if len(*list) >= mostProblems {
		*more++
		return
	}
	*list = append(*list, Problem{at, clipTo(text, 500)})
}

// OK says whether nothing must be mended.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// WriteTo writes the report for people.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	p := printer{w: w}
	p.line("task %s", r.Name)
	if r.ID != "" {
		p.line("id %s", r.ID)
	}
	for _, f := range r.Files {
		p.line("file %s: %d rows", f.Path, f.Rows)
	}
	for _, s := range r.Splits {
		p.line("split %s: %d examples", s.Split, s.Examples)
	}
	if r.Left > 0 {
		p.line("%d examples of the divided files belong to no split", r.Left)
	}
	if r.Repeated > 0 {
		p.line("%d rows repeat others of their split, with the same answers, and are dropped", r.Repeated)
	}
	for _, t := range r.Tools {
		p.line("tool %s", t)
	}
	if r.ID != "" {
		p.line("verifier: %d reference answers were given to it%s", r.Verified, prefixed("; ", r.Skipped))
	}
	for _, t := range r.Episodes {
		p.line("episode on %s, split %s: %s", clip(t.Example), t.Split, t.outcome())
	}
	p.problems("warning", r.Warnings, r.MoreWarnings)
	p.problems("problem", r.Problems, r.MoreProblems)
	if r.OK() {
		p.line("ok")
	}
	return p.n, p.err
}

func (t Trial) outcome() string {
	r := t.Rollout
	text := string(r.State)
	switch {
	case r.State == whale.StateError:
		text += ": " + clipTo(r.Error, 300)
	case r.Episode.Failure != nil:
		text += fmt.Sprintf(": %s: %s", r.Episode.Failure.Reason, clipTo(r.Episode.Failure.Detail, 300))
	default:
		text += fmt.Sprintf(", reward %g%s", r.Verdict.Reward, prefixed(": ", clipTo(r.Verdict.Reason, 300)))
	}
	return fmt.Sprintf("%s (%d model calls, %d tool calls, %d tokens)", text, r.Episode.Usage.ModelCalls, r.Episode.Usage.ToolCalls, r.Episode.Usage.SampledTokens)
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// printer writes lines and keeps the first error.
type printer struct {
	w   io.Writer
	n   int64
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err != nil {
		return
	}
	n, err := fmt.Fprintf(p.w, format+"\n", args...)
	p.n += int64(n)
	p.err = err
}

func (p *printer) problems(kind string, list []Problem, more int) {
	for _, each := range list {
		p.line("%s: %s", kind, each)
	}
	if more > 0 {
		p.line("%s: and %d more", kind, more)
	}
}
