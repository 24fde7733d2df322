package world

import (
	"math/rand/v2"
	"strings"
)

// The kinds of question.
const (
	OneHop = "one-hop"
	TwoHop = "two-hop"
)

// Hop is one step from a question to its answer: what the article of that title says.
type Hop struct {
	Title    string `json:"title"`
	Relation string `json:"relation"`
	Object   string `json:"object"` // the title of the next hop, or the answer
}

// Question is a question with its solution as data.
type Question struct {
	Text    string   `json:"text"`
	Answers []string `json:"answers"` // surface forms of the one answer, the full form first
	Kind    string   `json:"kind"`    // OneHop or TwoHop
	Hops    []Hop    `json:"hops"`
}

// chain is a question before it is worded: a stated fact, and for two hops a stated fact of its object.
type chain struct {
	start *entity
	first fact
	then  *fact
}

// chains lists every question that may be asked, one hop and two.
func (g *region) chains() (one, two []chain) {
	for _, e := range g.entities {
		for _, f := range e.facts {
			if !f.stated {
				continue
			}
			one = append(one, chain{start: e, first: f})
			if f.to == nil {
				continue
			}
			for i := range f.to.facts {
				if then := &f.to.facts[i]; then.stated && e.needsBoth(f, then) {
					two = append(two, chain{e, f, then})
				}
			}
		}
	}
	return one, two
}

// needsBoth says whether a chain cannot be answered from the question or the first article alone.
func (e *entity) needsBoth(first fact, then *fact) bool {
	if then.object == e.title || then.object == first.object {
		return false
	}
	for _, f := range e.facts {
		if f.stated && f.object == then.object {
			return false
		}
	}
	return true
}

// tells says whether the title that a question names holds its answer, or the title of the article between: companies and works are named after
// people and places, and by chance a river or a town may be called the same.
func (c chain) tells() bool {
	told, last := []string{}, c.first
	if c.then != nil {
		told, last = append(told, c.first.to.title), *c.then
	}
	title := " " + strings.ToLower(c.start.title) + " "
	for _, s := range append(told, forms(last)...) {
		if strings.Contains(title, " "+strings.ToLower(s)+" ") {
			return true
		}
	}
	return false
}

// word puts a chain into words.
func (c chain) word(r *rand.Rand) Question {
	hops := []Hop{{c.start.title, c.first.relation.id, c.first.object}}
	if c.then == nil {
		return Question{Text: ask(r, c.first.relation, c.start.title), Answers: forms(c.first), Kind: OneHop, Hops: hops}
	}
	hops = append(hops, Hop{c.first.to.title, c.then.relation.id, c.then.object})
	text := ask(r, c.then.relation, phrase(r, c.first.relation, c.start.title))
	return Question{Text: text, Answers: forms(*c.then), Kind: TwoHop, Hops: hops}
}

// forms gives the ways of writing a fact's object that count as right.
func forms(f fact) []string {
	switch {
	case f.relation.id == "river":
		return []string{f.object, "river " + f.object}
	case f.to != nil && f.to.kind == KindCompany:
		name, _, _ := strings.Cut(f.object, " ")
		return []string{f.object, name}
	}
	return []string{f.object}
}
