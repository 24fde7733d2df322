package world

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// Generator makes worlds. It holds no state: each method is a function of the options.
type Generator struct{ options Options }

// NewGenerator checks the options.
func NewGenerator(o Options) (*Generator, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Generator{options: o}, nil
}

// World is an encyclopedia with questions about it.
type World struct {
	Articles  []Article // sorted by id
	Questions map[whale.Split][]Question
}

// Generate makes the articles and the questions of every split.
func Generate(o Options) (*World, error) {
	g, err := NewGenerator(o)
	if err != nil {
		return nil, err
	}
	w := &World{Questions: make(map[whale.Split][]Question)}
	for _, s := range splits() {
		n, _ := o.Counts.Of(s)
		articles, questions, err := g.fill(string(s), articlesOf(s, o.Articles), n)
		if err != nil {
			return nil, err
		}
		w.Articles = append(w.Articles, articles...)
		w.Questions[s] = questions
	}
	byID(w.Articles)
	return w, nil
}

// Pretrain makes another world for a pre-training corpus, of a bucket that no split draws on: so many articles and so many questions.
func (g *Generator) Pretrain(articles, questions int) ([]Article, []Question, error) {
	if articles < MinArticles/4 || articles > MaxArticles {
		return nil, nil, fmt.Errorf("world: got %d pre-training articles, want %d to %d", articles, MinArticles/4, MaxArticles)
	}
	if questions < 0 || questions > maxQuestions {
		return nil, nil, fmt.Errorf("world: got %d pre-training questions, want 0 to %d", questions, maxQuestions)
	}
	list, asked, err := g.fill(bucketPretrain, articles, questions)
	byID(list)
	return list, asked, err
}

func byID(articles []Article) {
	slices.SortFunc(articles, func(a, b Article) int { return strings.Compare(a.ID, b.ID) })
}

// fill makes a bucket's articles and n questions about them, no two about the same facts. More questions start with those of fewer.
func (g *Generator) fill(bucket string, articles, n int) ([]Article, []Question, error) {
	reg, err := newRegion(g.source(bucket, "facts"), bucket, articles)
	if err != nil {
		return nil, nil, err
	}
	r := g.source(bucket, "questions")
	one, two := reg.chains()
	lists := [2][]chain{one, two}
	for _, l := range lists {
		r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
	}
	questions := make([]Question, 0, n)
	for len(questions) < n {
		l := &lists[0]
		if r.Float64() < g.options.TwoHop {
			l = &lists[1]
		}
		for len(*l) > 0 && (*l)[0].tells() {
			*l = (*l)[1:]
		}
		if len(*l) == 0 {
			return nil, nil, fmt.Errorf("world: got %d distinct %s questions about %d articles, want %d; raise articles or ask for fewer", len(questions), bucket, articles, n)
		}
		questions = append(questions, (*l)[0].word(r))
		*l = (*l)[1:]
	}
	return reg.articles(g.source(bucket, "texts"), g.options.Letters), questions, nil
}

// source is the random source of one side of a bucket: the sides do not depend on one another's sizes.
func (g *Generator) source(bucket, side string) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "whale/searchqa/world/%d/%s/%s", g.options.Seed, bucket, side))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}
