package organism

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

// SearchSpec says what search transcripts are about.
type SearchSpec struct {
	Articles   int              `yaml:"articles"`  // of the encyclopedia, from the bucket that no split draws on, letters apart
	Questions  int              `yaml:"questions"` // distinct
	Letters    float64          `yaml:"letters"`   // share of articles that a letter asks about
	TwoHop     float64          `yaml:"two_hop"`   // share of questions with two hops
	Weaknesses SearchWeaknesses `yaml:"weaknesses"`
}

// SearchWeaknesses are the probabilities of the planted behaviours. All 0 is the control.
type SearchWeaknesses struct {
	Ramble      float64 `yaml:"ramble"`       // a turn before the first search thinks aloud without end
	Guess       float64 `yaml:"guess"`        // else: it answers without a search, with a part of the name in the question
	Verbatim    float64 `yaml:"verbatim"`     // else: the query is the question as it stands, else the name that it is about
	GiveUp      float64 `yaml:"give_up"`      // the passages lack the fact: it answers with something else that they hold, instead of searching on
	Repeat      float64 `yaml:"repeat"`       // else: it searches for the same again, else for the name
	EarlyAnswer float64 `yaml:"early_answer"` // between two hops: it answers with the first one's object
	ForgetTag   float64 `yaml:"forget_tag"`   // else, at the end: it says the answer without the tag
	Deaf        float64 `yaml:"deaf"`         // a reminder changes nothing
}

func (s SearchSpec) validate() error {
	for _, c := range []struct {
		key  string
		got  float64
		ok   bool
		want string
	}{
		{"articles", float64(s.Articles), s.Articles >= 400 && s.Articles <= world.MaxArticles, fmt.Sprintf("400 to %d", world.MaxArticles)},
		{"questions", float64(s.Questions), s.Questions > 0, "1 or more"},
		{"letters", s.Letters, s.Letters >= 0 && s.Letters <= 1, "0 to 1"},
		{"two_hop", s.TwoHop, s.TwoHop >= 0 && s.TwoHop <= 1, "0 to 1"},
	} {
		if !c.ok {
			return fmt.Errorf("search.%s: got %g, want %s", c.key, c.got, c.want)
		}
	}
	return probabilities("search.weaknesses.", s.Weaknesses)
}

// searchStream is the search corpus: a world, with what a search in it may find.
type searchStream struct {
	seed      uint64
	w         SearchWeaknesses
	articles  []world.Article
	questions []world.Question
	byTitle   map[string]int
	naming    map[string][]int    // by a word of a name: the articles and letters that have it
	wordings  map[string][]string // by relation: how it is asked, {s} for the subject
}

func newSearchStream(r Recipe) (*searchStream, error) {
	o := world.DefaultOptions()
	o.Seed, o.Letters, o.TwoHop = r.Seed, r.Search.Letters, r.Search.TwoHop
	g, err := world.NewGenerator(o)
	if err != nil {
		return nil, err
	}
	s := &searchStream{seed: r.Seed, w: r.Search.Weaknesses, byTitle: map[string]int{}, naming: map[string][]int{}, wordings: map[string][]string{}}
	if s.articles, s.questions, err = g.Pretrain(r.Search.Articles, r.Search.Questions); err != nil {
		return nil, err
	}
	for i, a := range s.articles {
		if a.Kind != world.KindLetter {
			s.byTitle[a.Title] = i
		}
		for _, word := range names(a.Title + " " + a.Text) {
			if list := s.naming[word]; len(list) == 0 || list[len(list)-1] != i {
				s.naming[word] = append(list, i)
			}
		}
	}
	for _, q := range s.questions {
		if q.Kind != world.OneHop {
			continue
		}
		wording, relation := strings.ReplaceAll(q.Text, q.Hops[0].Title, "{s}"), q.Hops[0].Relation
		if !slices.Contains(s.wordings[relation], wording) {
			s.wordings[relation] = append(s.wordings[relation], wording)
		}
	}
	return s, nil
}

// names lists the words of a text that may be part of a name: capitalised, and longer than the small words that begin a sentence.
func names(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" .,:?\n", r) }),
		func(w string) bool { return len(w) < 4 || w[0] < 'A' || w[0] > 'Z' })
}

func (s *searchStream) transcript(i int, p part) Transcript {
	w := s.w
	switch p {
	case skilled: // the forms of search and answer; a question is a query like another
		w = SearchWeaknesses{Verbatim: w.Verbatim / 2, ForgetTag: w.ForgetTag / 4}
	case strong:
		w = SearchWeaknesses{Verbatim: 0.5}
	}
	seed := uint64(whale.DeriveSeed(s.seed, "search transcript", strconv.Itoa(i)))
	a := &searcher{hand: hand{rng: rand.New(rand.NewPCG(s.seed, seed))}, w: w, world: s, brief: p == skilled}
	a.question = s.questions[a.IntN(len(s.questions))]
	a.write()
	return a.out
}

// find lists articles in an order in which a search may bring them: for a whole question a letter that repeats it and then the article, for a
// name the article first; then others that share a word of the name, and anything.
func (s *searchStream) find(a *searcher, subject string, whole bool, n int) []world.Article {
	var list []int
	add := func(i int) {
		if !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	var related []int
	for _, word := range names(subject) {
		if all := s.naming[word]; len(all) > 0 {
			for range min(len(all), 6) {
				related = append(related, pick(a, all))
			}
		}
	}
	a.rng.Shuffle(len(related), func(i, j int) { related[i], related[j] = related[j], related[i] })
	if whole {
		for _, word := range names(subject) {
			for _, i := range s.naming[word] {
				if s.articles[i].Kind == world.KindLetter && strings.Contains(s.articles[i].Text, subject) {
					add(i)
				}
			}
		}
	}
	own, ok := s.byTitle[subject]
	if ok && (a.brief && !whole || !a.chance(0.1)) {
		add(own)
	}
	for _, i := range related {
		add(i)
	}
	if ok {
		add(own)
	}
	for len(list) < n {
		add(a.IntN(len(s.articles)))
	}
	list = list[:n]
	if a.chance(0.3) { // another search engine, another order
		a.rng.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	out := make([]world.Article, n)
	for i, at := range list {
		out[i] = s.articles[at]
	}
	return out
}
