package searchqa

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// Retriever finds passages, best first. It is called from many goroutines at once; the same query and number give the same passages.
type Retriever interface {
	ID() whale.ID // content hash of what is searched and how
	Search(ctx context.Context, query string, k int) ([]corpus.Hit, error)
	Close() error
}

// The search tool.
const (
	toolSearch  = "search"
	argQuery    = "query"
	argTopK     = "top_k"
	argMaxChars = "max_chars"
)

// tool describes the search.
func (o SearchOptions) tool() whale.ToolSpec {
	return whale.ToolSpec{
		Name:        toolSearch,
		Description: "Searches the encyclopedia and returns the passages that fit the query best.",
		Parameters: []whale.ToolParameter{
			{Name: argQuery, Type: "string", Required: true, Description: fmt.Sprintf("what to search for, at most %d characters", o.QueryChars)},
			{Name: argTopK, Type: "integer", Description: fmt.Sprintf("how many passages, 1 to %d; %d where absent", o.MaxTopK, o.TopK)},
			{Name: argMaxChars, Type: "integer", Description: fmt.Sprintf("characters of each passage's text, 1 to %d; all of them where absent", o.PassageChars)},
		},
	}
}

// env is an episode's world. A search leaves no trace, so env keeps nothing.
type env struct {
	retriever Retriever
	options   SearchOptions
}

func (e *env) Tools() []whale.ToolSpec { return []whale.ToolSpec{e.options.tool()} }

// noPassage is the text of a search without a result.
const noPassage = "No passage was found."

// Call searches. Whatever the caller got wrong comes back as the result's error, in one line.
func (e *env) Call(ctx context.Context, name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
	if name != toolSearch {
		return whale.ToolResult{Error: task.UnknownTool(name, e.Tools())}, nil
	}
	query, topK, maxChars, fault := e.options.read(args)
	if fault != "" {
		return whale.ToolResult{Error: fault}, nil
	}
	hits, err := e.retriever.Search(ctx, query, topK)
	if err != nil {
		return whale.ToolResult{}, fmt.Errorf("searchqa: search: %w", err)
	}
	if len(hits) > topK {
		hits = hits[:topK]
	}
	for i := range hits {
		hits[i].ID, hits[i].Title = clean(hits[i].ID, corpus.MaxID), clean(hits[i].Title, corpus.MaxTitle)
		hits[i].Text = clean(hits[i].Text, maxChars)
	}
	if hits == nil {
		hits = []corpus.Hit{}
	}
	data, err := json.Marshal(hits)
	if err != nil {
		return whale.ToolResult{}, fmt.Errorf("searchqa: search: %w", err)
	}
	return whale.ToolResult{Text: render(hits), Data: data}, nil
}

// read takes the arguments apart. fault is the caller's mistake.
func (o SearchOptions) read(args map[string]json.RawMessage) (query string, topK, maxChars int, fault string) {
	if fault = task.CheckArgs(o.tool(), args); fault != "" {
		return
	}
	topK, maxChars = o.TopK, o.PassageChars
	if err := json.Unmarshal(args[argQuery], &query); err != nil {
		fault = fmt.Sprintf("%s: argument %q: %v", toolSearch, argQuery, err)
		return
	}
	query = strings.TrimSpace(query)
	if n := utf8.RuneCountInString(query); n < 1 || n > o.QueryChars {
		fault = fmt.Sprintf("%s: argument %q: got %d characters, want 1 to %d", toolSearch, argQuery, n, o.QueryChars)
		return
	}
	for _, a := range []struct {
		name string
		to   *int
		most int
	}{{argTopK, &topK, o.MaxTopK}, {argMaxChars, &maxChars, o.PassageChars}} {
		raw, ok := args[a.name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(raw, a.to); err != nil || *a.to < 1 || *a.to > a.most {
			fault = fmt.Sprintf("%s: argument %q: got %s, want 1 to %d", toolSearch, a.name, clip(string(raw)), a.most)
			return
		}
	}
	return
}

// clean makes a text from a retriever fit to be shown, n characters of it.
func clean(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n])
}

// render writes passages one a paragraph, the title before the text.
func render(hits []corpus.Hit) string {
	if len(hits) == 0 {
		return noPassage
	}
	var b strings.Builder
	for i, h := range hits {
		if i > 0 {
			b.WriteByte('\n')
		}
		if h.Title != "" {
			b.WriteString(h.Title + ": ")
		}
		b.WriteString(h.Text)
	}
	return b.String()
}

// Render knows no blocks: nothing here needs the environment's word.
func (e *env) Render(block string, _ map[string]json.RawMessage) (string, error) {
	return "", &whale.HarnessError{Failure: whale.Failure{
		Reason: whale.FailContract,
		Detail: fmt.Sprintf("env.render: got block %q, but this task has no blocks", clip(block)),
	}}
}

// Rules asks for nothing more than what holds everywhere: query and passages are the harness's to choose.
func (e *env) Rules() whale.Rules { return whale.Rules{} }

func (e *env) Close() error { return nil }

// clip shortens a quotation in a message.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "..."
	}
	return s
}
