package world

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/seed-095d5d2b/whale/task"
)

// entity is what an article is about.
type entity struct {
	kind  Kind
	title string
	facts []fact // one a relation of its kind, in their order
}

// fact is a relation of an entity with its object.
type fact struct {
	relation *relation
	object   string
	to       *entity // nil for values
	stated   bool    // by the article; only then it is asked about
}

// region is the part of a world that belongs to a bucket. Its entities know only one another.
type region struct {
	entities []*entity
	kinds    map[Kind][]*entity
}

// maxTries bounds the draws for one name; the smallest bucket takes one title in eleven.
const maxTries = 3000

// newRegion draws n entities of a bucket and their facts.
func newRegion(r *rand.Rand, bucket string, n int) (*region, error) {
	g := &region{kinds: make(map[Kind][]*entity)}
	names := newSpeller(r, n)
	seen := make(map[string]bool, n)
	belong := buckets()
	list := shares()
	for at, s := range list {
		want := max(2, n*s.percent/100)
		if at == len(list)-1 {
			want = n - len(g.entities)
		}
		for range want {
			title, ok := "", false
			for tries := 0; tries < maxTries && !ok; tries++ {
				title = names.name(s.kind)
				ok = belong.Of(title) == bucket && !seen[title]
			}
			if !ok {
				return nil, fmt.Errorf("world: got %d %s names for %s, want %d more; ask for fewer articles", len(g.kinds[s.kind]), s.kind, bucket, want)
			}
			seen[title] = true
			e := &entity{kind: s.kind, title: title}
			g.entities = append(g.entities, e)
			g.kinds[s.kind] = append(g.kinds[s.kind], e)
		}
	}
	g.relate(r, names, seen)
	return g, nil
}

// relate draws every entity's facts and which of them its article states.
func (g *region) relate(r *rand.Rand, names *speller, seen map[string]bool) {
	all := relations()
	for _, e := range g.entities {
		for i := range all {
			if l := &all[i]; l.of == e.kind {
				e.facts = append(e.facts, g.draw(r, e, l, names, seen))
			}
		}
		stated := 2 + r.IntN(2)
		for _, at := range r.Perm(len(e.facts))[:min(stated, len(e.facts))] {
			e.facts[at].stated = true
		}
	}
	g.capitals()
}

func (g *region) draw(r *rand.Rand, e *entity, l *relation, names *speller, seen map[string]bool) fact {
	if l.to != "" {
		to := e
		for to == e {
			to = pick(r, g.kinds[l.to])
		}
		return fact{relation: l, object: to.title, to: to}
	}
	value := pick(r, l.values())
	switch value {
	case drawYear:
		value = strconv.Itoa(1700 + r.IntN(250))
	case drawWord:
		for value = names.word(2); seen[value]; value = names.word(2) {
		}
		if l.id == "money" {
			value = task.Normalize(value) // as a coin is written
		}
	}
	return fact{relation: l, object: value}
}

// capitals makes a country's capital one of its own towns: the i-th town is the capital of the i-th country.
func (g *region) capitals() {
	for i, c := range g.kinds[KindCountry] {
		town := g.kinds[KindTown][i]
		for j := range c.facts {
			if f := &c.facts[j]; f.relation.id == "capital" {
				f.object, f.to = town.title, town
			}
		}
		for j := range town.facts {
			if f := &town.facts[j]; f.relation.id == "country" {
				f.object, f.to = c.title, c
			}
		}
	}
}

// articles writes one article an entity, and letters about a share of them.
func (g *region) articles(r *rand.Rand, letters float64) []Article {
	out := make([]Article, 0, len(g.entities))
	for _, e := range g.entities {
		out = append(out, e.write(r))
	}
	for _, e := range g.entities {
		if r.Float64() >= letters {
			continue
		}
		if a, ok := e.letter(r, 1+r.IntN(99_999)); ok {
			out = append(out, a)
		}
	}
	return out
}
