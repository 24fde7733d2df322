package world

import (
	"fmt"
	"math/rand/v2"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// Article is an entry of the encyclopedia, or a letter.
type Article struct {
	ID    string `json:"id"` // a hash of title and text
	Title string `json:"title"`
	Text  string `json:"text"` // two to four sentences
	Kind  Kind   `json:"kind"`
}

func newArticle(k Kind, title, text string) Article {
	return Article{ID: string(whale.HashBytes("searchqa/article", []byte(title+"\n"+text)))[:12], Title: title, Text: text, Kind: k}
}

// write turns the stated facts of an entity into an article: what it is, then the facts in random order.
func (e *entity) write(r *rand.Rand) Article {
	sentences := []string{strings.ReplaceAll(pick(r, e.kind.first()), "{s}", e.title)}
	for _, at := range r.Perm(len(e.facts)) {
		f := e.facts[at]
		if !f.stated {
			continue
		}
		subject := e.title
		if r.IntN(3) > 0 {
			subject = e.kind.short(e.title)
		}
		sentences = append(sentences, sentence(fill(pick(r, f.relation.sentences), subject, f.object)))
	}
	return newArticle(e.kind, e.title, strings.Join(sentences, " "))
}

// letter asks about an entity and says nothing.
func (e *entity) letter(r *rand.Rand, number int) (Article, bool) {
	var asked []string
	for _, f := range e.facts {
		if !f.stated {
			continue
		}
		if f.to != nil && len(f.relation.phrases) > 0 {
			if g, ok := f.to.anyStated(r); ok && r.IntN(2) == 0 {
				asked = append(asked, ask(r, g.relation, phrase(r, f.relation, e.title)))
				continue
			}
		}
		asked = append(asked, ask(r, f.relation, e.title))
	}
	if len(asked) == 0 {
		return Article{}, false
	}
	r.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	asked = asked[:min(len(asked), 2)]
	opening := pick(r, openings())
	closing := pick(r, closings())
	return newArticle(KindLetter, fmt.Sprintf("Letter %d", number), opening+strings.Join(asked, " ")+closing), true
}

func openings() []string {
	return []string{"A reader asks: ", "A question from a reader: ", "Somebody wants to know: "}
}

func closings() []string {
	return []string{" We do not know.", " Nobody could tell.", " Please write to us."}
}

func (e *entity) anyStated(r *rand.Rand) (fact, bool) {
	for _, at := range r.Perm(len(e.facts)) {
		if e.facts[at].stated {
			return e.facts[at], true
		}
	}
	return fact{}, false
}

// ask puts a question about a subject, which may be a phrase.
func ask(r *rand.Rand, l *relation, subject string) string {
	return strings.ReplaceAll(pick(r, l.questions), "{s}", subject)
}

// phrase names the object of a relation by its subject.
func phrase(r *rand.Rand, l *relation, subject string) string {
	return strings.ReplaceAll(pick(r, l.phrases), "{s}", subject)
}

func fill(template, subject, object string) string {
	return strings.NewReplacer("{s}", subject, "{o}", object).Replace(template)
}

// sentence begins with a capital.
func sentence(s string) string { return title(s) }

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }
