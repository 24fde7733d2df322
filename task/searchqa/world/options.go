package world

import (
	"fmt"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// Counts says how many examples each split has.
type Counts = task.Counts

// Options decides every article and question: equal options, equal worlds.
type Options struct {
	Seed     uint64  `json:"seed" yaml:"seed"`         // equal seeds and options give equal articles and questions
	Articles int     `json:"articles" yaml:"articles"` // of the encyclopedia, letters apart
	Letters  float64 `json:"letters" yaml:"letters"`   // share of articles that a letter asks about, 0 to 1
	TwoHop   float64 `json:"two_hop" yaml:"two_hop"`   // share of two-hop questions, 0 to 1
	Counts   Counts  `json:"counts" yaml:"counts"`     // of questions
}

// DefaultOptions gives 3,000 articles, letters about six in ten of them, and two hops in four questions of ten.
func DefaultOptions() Options {
	return Options{
		Seed: 1, Articles: 3000, Letters: 0.6, TwoHop: 0.4,
		Counts: Counts{Train: 2048, Search: 128, Validation: 128, Test: 256},
	}
}

// The bounds of a world. Fewer articles leave a split without towns or countries; of more, names are no longer to be had.
const (
	MinArticles  = 400
	MaxArticles  = 200_000
	maxQuestions = 1 << 20
)

// Validate reports options out of range.
func (o Options) Validate() error {
	if o.Articles < MinArticles || o.Articles > MaxArticles {
		return fmt.Errorf("generator.articles: got %d, want %d to %d", o.Articles, MinArticles, MaxArticles)
	}
	if !(o.Letters >= 0 && o.Letters <= 1) {
		return fmt.Errorf("generator.letters: got %v, want 0 to 1", o.Letters)
	}
	if !(o.TwoHop >= 0 && o.TwoHop <= 1) {
		return fmt.Errorf("generator.two_hop: got %v, want 0 to 1", o.TwoHop)
	}
	for _, s := range splits() {
		if n, _ := o.Counts.Of(s); n < 0 || n > maxQuestions {
			return fmt.Errorf("generator.counts.%s: got %d, want 0 to %d", s, n, maxQuestions)
		}
	}
	return nil
}

func splits() []whale.Split {
	return []whale.Split{whale.SplitTrain, whale.SplitSearch, whale.SplitValidation, whale.SplitTest}
}

// bucketPretrain holds the articles of worlds that a pre-training corpus may be written about. It is no split: no task ever offers it.
const bucketPretrain = "pretrain"

// buckets decides where an article belongs, by its title alone and so for every seed and every setting alike.
func buckets() task.Buckets {
	return task.Buckets{
		{Name: bucketPretrain, Percent: 40},
		{Name: string(whale.SplitTrain), Percent: 24},
		{Name: string(whale.SplitSearch), Percent: 12},
		{Name: string(whale.SplitValidation), Percent: 9},
		{Name: string(whale.SplitTest), Percent: 15},
	}
}

// articlesOf gives how many articles of n a split has.
func articlesOf(s whale.Split, n int) int {
	switch s {
	case whale.SplitTrain:
		return n - articlesOf(whale.SplitSearch, n) - articlesOf(whale.SplitValidation, n) - articlesOf(whale.SplitTest, n)
	case whale.SplitTest:
		return n / 4
	}
	return n / 6
}
