package bm25

import (
	"fmt"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/registry"
)

// The analyzers: how a text becomes terms.
const (
	Plain   = "plain"   // words in lower case
	English = "english" // besides, without stop words and possessive endings, and stemmed (Porter)
)

// Analyzers lists their names.
func Analyzers() []string { return []string{Plain, English} }

func analyzerOf(name string) (analysis.Analyzer, error) {
	switch name {
	case Plain:
		return &analysis.DefaultAnalyzer{
			Tokenizer:    unicode.NewUnicodeTokenizer(),
			TokenFilters: []analysis.TokenFilter{lowercase.NewLowerCaseFilter()},
		}, nil
	case English:
		return registry.NewCache().AnalyzerNamed(en.AnalyzerName)
	}
	return nil, fmt.Errorf("bm25: got analyzer %q, want one of %q", name, Analyzers())
}

// counter counts the terms that it makes. It is for one goroutine at a time.
type counter struct {
	analysis.Analyzer
	n int
}

func (c *counter) Analyze(text []byte) analysis.TokenStream {
	tokens := c.Analyzer.Analyze(text)
	c.n += len(tokens)
	return tokens
}

// maxTerms bounds the distinct terms of a query; further ones are left out.
const maxTerms = 64

// terms gives the distinct terms of a text with the times they occur, in the order of their first occurrence.
func terms(a analysis.Analyzer, text string) (list []string, times map[string]int) {
	times = make(map[string]int)
	for _, t := range a.Analyze([]byte(text)) {
		term := string(t.Term)
		if times[term] == 0 {
			if len(list) == maxTerms {
				continue
			}
			list = append(list, term)
		}
		times[term]++
	}
	return list, times
}
