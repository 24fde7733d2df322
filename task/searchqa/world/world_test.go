package world

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	whale "github.com/seed-095d5d2b/whale"
)

var update = flag.Bool("update", false, "write the golden files anew")

func small(seed uint64) Options {
	o := DefaultOptions()
	o.Seed, o.Articles = seed, 600
	o.Counts = Counts{Train: 200, Search: 40, Validation: 30, Test: 50}
	return o
}

func generate(t interface{ Fatal(...any) }, o Options) *World {
	w, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The worlds of two seeds, to the byte.
func TestGolden(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := generate(t, small(seed))
			var b strings.Builder
			fmt.Fprintf(&b, "all of it: %s\n", whale.HashOf("world", w))
			for _, a := range w.Articles[:12] {
				fmt.Fprintf(&b, "\n%s %s %s\n%s\n", a.ID, a.Kind, a.Title, a.Text)
			}
			for _, s := range splits() {
				for _, q := range w.Questions[s][:5] {
					line, err := json.Marshal(q)
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&b, "\n%s %s", s, line)
				}
			}
			path := filepath.Join("testdata", fmt.Sprintf("seed-%d.golden", seed))
			if *update {
				if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("the world of seed %d has changed; if that is meant, run go test -update\n%s", seed, b.String())
			}
		})
	}
}

// words makes a text comparable by whole words.
func words(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(".,?:", r) {
			return ' '
		}
		return r
	}, strings.ToLower(s))
	return " " + strings.Join(strings.Fields(s), " ") + " "
}

func has(text, part string) bool { return strings.Contains(words(text), words(part)) }

// What every world promises, whatever the seed and the shares.
func TestWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := small(rapid.Uint64().Draw(t, "seed"))
		o.Articles = rapid.IntRange(MinArticles, 900).Draw(t, "articles")
		o.Letters = rapid.Float64Range(0, 1).Draw(t, "letters")
		o.TwoHop = rapid.Float64Range(0, 1).Draw(t, "two hops")
		o.Counts = Counts{Train: 150, Search: 40, Validation: 40, Test: 60}
		w := generate(t, o)
		articles := make(map[string]Article)
		letters := make(map[string][]string) // padded texts by word
		for _, a := range w.Articles {
			checkArticle(t, a)
			if a.Kind == KindLetter {
				text := words(a.Text)
				for _, word := range strings.Fields(text) {
					letters[word] = append(letters[word], text)
				}
				continue
			}
			if _, ok := articles[a.Title]; ok {
				t.Fatalf("got two articles on %s", a.Title)
			}
			articles[a.Title] = a
		}
		if len(articles) != o.Articles {
			t.Fatalf("got %d articles, want %d", len(articles), o.Articles)
		}
		texts, facts := make(map[string]whale.Split), make(map[string]whale.Split)
		for _, s := range splits() {
			if n, _ := o.Counts.Of(s); len(w.Questions[s]) != n {
				t.Fatalf("%s: got %d questions, want %d", s, len(w.Questions[s]), n)
			}
			for _, q := range w.Questions[s] {
				if before, ok := texts[q.Text]; ok {
					t.Fatalf("%s: got %q, which is in %s too", s, q.Text, before)
				}
				texts[q.Text] = s
				checkChain(t, q, articles)
				for _, h := range q.Hops {
					if got := buckets().Of(h.Title); got != string(s) {
						t.Fatalf("%s: %q passes %s, which belongs to %s", s, q.Text, h.Title, got)
					}
					key := h.Title + "/" + h.Relation
					if before, ok := facts[key]; ok && before != s {
						t.Fatalf("%s: %q asks for %s, which %s asks for", s, q.Text, key, before)
					}
					facts[key] = s
				}
				subject, answer := words(q.Hops[0].Title), words(q.Answers[0])
				about := strings.Fields(subject)
				rarest := slices.MinFunc(about, func(a, b string) int { return len(letters[a]) - len(letters[b]) })
				for _, l := range letters[rarest] {
					if strings.Contains(l, subject) && strings.Contains(l, answer) {
						t.Fatalf("the letter %q answers %q", l, q.Text)
					}
				}
			}
		}
	})
}

func checkArticle(t *rapid.T, a Article) {
	sentences := strings.Count(a.Text, ".") + strings.Count(a.Text, "?") + strings.Count(a.Text, ":")
	if sentences < 2 || sentences > 4 || len(a.Text) > 220 || a.Title == "" || len(a.ID) != 12 {
		t.Fatalf("got the article %+v, want two to four short sentences", a)
	}
	if strings.ContainsAny(a.Text, "{}") || strings.Contains(a.Text, "  ") {
		t.Fatalf("got the text %q", a.Text)
	}
	for _, s := range strings.SplitAfter(a.Text, ". ") {
		if s[0] >= 'a' && s[0] <= 'z' {
			t.Fatalf("got a sentence that begins small in %q", a.Text)
		}
	}
}

// checkChain follows a question through the articles to its answer.
func checkChain(t *rapid.T, q Question, articles map[string]Article) {
	want := map[string]int{OneHop: 1, TwoHop: 2}[q.Kind]
	if len(q.Hops) != want || len(q.Answers) == 0 {
		t.Fatalf("got %+v, want %d hops and an answer", q, want)
	}
	if !has(q.Text, q.Hops[0].Title) {
		t.Fatalf("%q does not name %s", q.Text, q.Hops[0].Title)
	}
	at := q.Hops[0].Title
	for i, h := range q.Hops {
		a, ok := articles[at]
		if !ok || h.Title != at {
			t.Fatalf("%q: hop %d: got %s, want an article on %s", q.Text, i+1, h.Title, at)
		}
		if !has(a.Text, h.Object) {
			t.Fatalf("%q: the article %q does not tell %s", q.Text, a.Text, h.Object)
		}
		if !has(a.Text, a.Title) {
			t.Fatalf("the article %q does not tell its title %s", a.Text, a.Title)
		}
		at = h.Object
	}
	if at != q.Answers[0] {
		t.Fatalf("%q leads to %s, want %s", q.Text, at, q.Answers[0])
	}
	for _, answer := range q.Answers {
		if has(q.Text, answer) {
			t.Fatalf("%q tells its answer %s", q.Text, answer)
		}
	}
	if q.Kind == TwoHop {
		if has(q.Text, q.Hops[1].Title) {
			t.Fatalf("%q tells its middle %s", q.Text, q.Hops[1].Title)
		}
		if first := articles[q.Hops[0].Title]; has(first.Text, q.Answers[0]) {
			t.Fatalf("%q: the first article tells the answer already: %q", q.Text, first.Text)
		}
	}
}

// A pre-training world shares no article and no question with the splits of any seed, and is another one for another seed.
func TestPretrain(t *testing.T) {
	taken := make(map[string]bool)
	for seed := range uint64(3) {
		w := generate(t, small(seed))
		for _, a := range w.Articles {
			if a.Kind != KindLetter {
				taken[a.Title] = true
			}
		}
		for _, s := range splits() {
			for _, q := range w.Questions[s] {
				taken[q.Text] = true
			}
		}
	}
	seen := make(map[string]bool)
	for seed := range uint64(3) {
		g, err := NewGenerator(small(seed))
		if err != nil {
			t.Fatal(err)
		}
		articles, questions, err := g.Pretrain(800, 300)
		if err != nil {
			t.Fatal(err)
		}
		if len(questions) != 300 || seen[articles[0].ID] {
			t.Errorf("seed %d: got %d questions, want 300 of a world of its own", seed, len(questions))
		}
		seen[articles[0].ID] = true
		for _, a := range articles {
			if taken[a.Title] && a.Kind != KindLetter {
				t.Errorf("%s is in a split too", a.Title)
			}
		}
		for _, q := range questions {
			if taken[q.Text] {
				t.Errorf("%q is in a split too", q.Text)
			}
		}
	}
}

// Asking for more questions keeps those that there were; the articles stay.
func TestPrefix(t *testing.T) {
	few, more := small(3), small(3)
	more.Counts.Test, few.Counts.Train = 90, 10
	a, b := generate(t, few), generate(t, more)
	same := func(x, y Question) bool { return x.Text == y.Text && slices.Equal(x.Answers, y.Answers) }
	if !slices.EqualFunc(a.Questions[whale.SplitTest], b.Questions[whale.SplitTest][:50], same) || !slices.Equal(a.Articles, b.Articles) {
		t.Error("more questions changed the ones before, or the articles")
	}
}

// The share of two hops is kept, and every relation is asked for in both kinds.
func TestMix(t *testing.T) {
	w := generate(t, DefaultOptions())
	two := 0
	asked := make(map[string]int)
	list := w.Questions[whale.SplitTrain]
	for _, q := range list {
		if q.Kind == TwoHop {
			two++
		}
		asked[q.Kind+" "+q.Hops[len(q.Hops)-1].Relation]++
	}
	if share := float64(two) / float64(len(list)); share < 0.36 || share > 0.44 {
		t.Errorf("got %.2f two-hop questions, want about 0.4", share)
	}
	for _, r := range relations() {
		if asked[OneHop+" "+r.id] == 0 {
			t.Errorf("nobody asks for %s", r.id)
		}
		// Nothing leads to a work, so no second hop begins there.
		if r.of != KindWork && asked[TwoHop+" "+r.id] == 0 {
			t.Errorf("nobody asks for %s in two hops", r.id)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tc := range []struct {
		change func(*Options)
		err    string
	}{
		{func(o *Options) { o.Articles = 10 }, "generator.articles: got 10"},
		{func(o *Options) { o.Letters = -0.1 }, "generator.letters"},
		{func(o *Options) { o.TwoHop = 1.5 }, "generator.two_hop"},
		{func(o *Options) { o.Counts.Test = -1 }, "generator.counts.test"},
		{func(o *Options) { o.Counts.Search = 5000 }, "raise articles or ask for fewer"},
	} {
		o := small(1)
		tc.change(&o)
		if _, err := Generate(o); err == nil || !strings.Contains(err.Error(), tc.err) {
			t.Errorf("got %v, want an error with %q", err, tc.err)
		}
	}
}
