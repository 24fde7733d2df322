package retriever

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// The bounds of the protocol, for both sides.
const (
	MaxTopK    = 100
	MaxQuery   = 16 << 10 // bytes
	MaxQueries = 256      // of a request
)

// request is what a client asks.
type request struct {
	Queries      []string `json:"queries"`
	TopK         *int     `json:"topk"`
	ReturnScores *bool    `json:"return_scores"`
}

// hit is an element of a result.
type hit struct {
	Document document `json:"document"`
	Score    float64  `json:"score"`
}

// document is a passage. The id may be a string or a number.
type document struct {
	ID       json.RawMessage `json:"id"`
	Contents *string         `json:"contents"`
	Title    string          `json:"title,omitempty"` // some corpora have it apart
	Text     *string         `json:"text,omitempty"`
}

// passage reads a document of a server.
func (d document) passage() (corpus.Passage, error) {
	id := strings.TrimSpace(string(d.ID))
	switch {
	case id == "" || id == "null":
		return corpus.Passage{}, errors.New("document.id: got none")
	case id[0] == '"':
		if err := json.Unmarshal(d.ID, &id); err != nil {
			return corpus.Passage{}, fmt.Errorf("document.id: %w", err)
		}
	case id[0] == '{' || id[0] == '[':
		return corpus.Passage{}, errors.New("document.id: got an object or a list, want a string or a number")
	}
	var p corpus.Passage
	switch {
	case d.Contents != nil:
		p = corpus.FromContents(id, *d.Contents)
		if p.Title == "" {
			p.Title = d.Title
		}
	case d.Text != nil:
		p = corpus.Passage{ID: id, Title: d.Title, Text: *d.Text}
	default:
		return corpus.Passage{}, errors.New("document.contents: got none")
	}
	if err := p.Validate(); err != nil {
		return corpus.Passage{}, fmt.Errorf("document: %w", err)
	}
	return p, nil
}

// parseResult reads a server's answer to one query: at most k passages, best first as the server says.
func parseResult(body []byte, k int) ([]corpus.Hit, error) {
	var answer struct {
		Result [][]json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("got a body that is no answer of the protocol: %w", err)
	}
	if len(answer.Result) != 1 {
		return nil, fmt.Errorf("result: got %d lists for 1 query", len(answer.Result))
	}
	list := answer.Result[0]
	if len(list) > k {
		return nil, fmt.Errorf("result[0]: got %d passages, want at most %d", len(list), k)
	}
	hits := make([]corpus.Hit, 0, len(list))
	for i, raw := range list {
		var h struct {
			Document *document `json:"document"`
			Score    *float64  `json:"score"`
		}
		if err := json.Unmarshal(raw, &h); err != nil {
			return nil, fmt.Errorf("result[0][%d]: %w", i, err)
		}
		if h.Document == nil || h.Score == nil || math.IsNaN(*h.Score) || math.IsInf(*h.Score, 0) {
			return nil, fmt.Errorf("result[0][%d]: got no document with a score", i)
		}
		p, err := h.Document.passage()
		if err != nil {
			return nil, fmt.Errorf("result[0][%d].%w", i, err)
		}
		hits = append(hits, corpus.Hit{Passage: p, Score: *h.Score})
	}
	return hits, nil
}

// readBounded reads a body of at most most bytes.
func readBounded(r io.Reader, most int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("got a body of more than %d bytes", most)
	}
	return bytes.TrimSpace(body), nil
}
