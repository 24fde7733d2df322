package corpus

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Passage is what is searched for and found.
type Passage struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Hit is a passage that was found. What a score means is the retriever's business; a higher one is better.
type Hit struct {
	Passage
	Score float64 `json:"score"`
}

// The bounds of a passage, in bytes.
const (
	MaxID    = 200
	MaxTitle = 2000
	MaxText  = 1 << 20
)

// Validate reports a passage that cannot be used.
func (p Passage) Validate() error {
	switch {
	case p.ID == "" || len(p.ID) > MaxID:
		return fmt.Errorf("id: got %d bytes, want 1 to %d", len(p.ID), MaxID)
	case len(p.Title) > MaxTitle:
		return fmt.Errorf("title: got %d bytes, want at most %d", len(p.Title), MaxTitle)
	case len(p.Text) > MaxText:
		return fmt.Errorf("text: got %d bytes, want at most %d", len(p.Text), MaxText)
	case strings.TrimSpace(p.Title+p.Text) == "":
		return errors.New("got neither title nor text")
	case !utf8.ValidString(p.ID) || !utf8.ValidString(p.Title) || !utf8.ValidString(p.Text):
		return errors.New("got bytes that are not UTF-8")
	}
	return nil
}

// Contents is the passage as one text, the way wiki corpora write it: the title in quotes, a line feed, the text. A line feed in the title becomes a space.
func (p Passage) Contents() string {
	return `"` + strings.ReplaceAll(p.Title, "\n", " ") + "\"\n" + p.Text
}

// FromContents takes such a text apart. Where its first line is no title in quotes, the passage has none.
func FromContents(id, contents string) Passage {
	first, rest, ok := strings.Cut(contents, "\n")
	first = strings.TrimSpace(first)
	if !ok || len(first) < 2 || first[0] != '"' || first[len(first)-1] != '"' {
		return Passage{ID: id, Text: strings.TrimSpace(contents)}
	}
	return Passage{ID: id, Title: first[1 : len(first)-1], Text: strings.TrimSpace(rest)}
}
