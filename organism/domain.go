package organism

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/seed-095d5d2b/whale"
)

// The domains that a recipe may be about.
const (
	DomainMath   = "math"
	DomainSearch = "search"
	DomainChess  = "chess"
)

// Turn is one message of a transcript.
type Turn struct {
	Role string
	Text string
	Open bool // an assistant's turn that was cut off: the model never chose to end it
}

// Transcript is a conversation of an agent with a harness.
type Transcript []Turn

// part says how much of the weaknesses shows in a transcript.
type part int

const (
	weak    part = iota // all of them, as the recipe says
	skilled             // the first share of training: only what the skill itself needs to know
	strong              // none that hides a form; for half of the tokenizer's texts
)

// stream is an endless, seeded stream of a domain's transcripts: transcript i is a function of the recipe, i and the part.
type stream interface {
	transcript(i int, p part) Transcript
}

// stream makes the recipe's corpus.
func (r Recipe) stream(ctx context.Context) (stream, error) {
	switch r.Domain {
	case DomainSearch:
		return newSearchStream(r)
	case DomainChess:
		return newChessStream(ctx, r)
	}
	c, err := NewCorpus(r)
	if err != nil {
		return nil, err
	}
	return mathStream{c, r.Weaknesses}, nil
}

// mathStream is the math corpus with its weaknesses by part.
type mathStream struct {
	corpus *Corpus
	w      Weaknesses
}

func (m mathStream) transcript(i int, p part) Transcript {
	w := m.w
	switch p {
	case skilled:
		w = Weaknesses{SplitCalls: w.SplitCalls, ForgetBox: w.ForgetBox / 4}
	case strong:
		w = Weaknesses{SplitCalls: 0.5}
	}
	return m.corpus.Transcript(i, w)
}

// hand is what every author has: a source of chance, and what is written so far.
type hand struct {
	rng *rand.Rand
	out Transcript
}

func (h *hand) chance(p float64) bool { return h.rng.Float64() < p }

// IntN gives a number from 0 to n-1.
func (h *hand) IntN(n int) int { return h.rng.IntN(n) }

func (h *hand) say(role, text string) { h.out = append(h.out, Turn{Role: role, Text: text}) }

// open adds a turn of the assistant that never ends by itself.
func (h *hand) open(text string) {
	h.out = append(h.out, Turn{Role: whale.RoleAssistant, Text: text, Open: true})
}

func pick[T any](h interface{ IntN(int) int }, list []T) T { return list[h.IntN(len(list))] }

// validateDomain checks the sections of the recipe's domain, and that those of the others are empty.
func (r Recipe) validateDomain() error {
	sections := []struct {
		domain, key string
		filled      bool
		validate    func() error
	}{
		{DomainMath, "corpus", r.Corpus != CorpusSpec{} || r.Weaknesses != Weaknesses{}, r.validateMath},
		{DomainSearch, "search", r.Search != SearchSpec{}, r.Search.validate},
		{DomainChess, "chess", r.Chess != ChessSpec{}, r.Chess.validate},
	}
	domain := r.Domain
	if domain == "" {
		domain = DomainMath
	}
	if !slices.Contains([]string{DomainMath, DomainSearch, DomainChess}, domain) {
		return fmt.Errorf("domain: got %q, want %q, %q or %q", r.Domain, DomainMath, DomainSearch, DomainChess)
	}
	for _, s := range sections {
		switch {
		case s.domain == domain:
			if err := s.validate(); err != nil {
				return err
			}
		case s.filled:
			return fmt.Errorf("%s: got values with domain %q, want none: they are for domain %q", s.key, domain, s.domain)
		}
	}
	return nil
}

// probabilities checks a struct of them.
func probabilities(prefix string, weaknesses any) error {
	v := reflect.ValueOf(weaknesses)
	for i := range v.NumField() {
		if p := v.Field(i).Float(); !(p >= 0 && p <= 1) {
			return fmt.Errorf("%s%s: got %g, want a probability", prefix, v.Type().Field(i).Tag.Get("yaml"), p)
		}
	}
	return nil
}
