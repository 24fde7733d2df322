package organism

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

// searcher writes one transcript about a question.
type searcher struct {
	hand
	w        SearchWeaknesses
	world    *searchStream
	question world.Question
	hop      int      // the first one that is not known yet
	last     []string // queries so far
	form     passageForm
	most     int // passages of a search
	cut      int // characters of a passage; 0 = all
	heading  string
	brief    bool // whether the harness shows mostly what the answer needs
	seen     []world.Article
}

// write is the life of an episode.
func (a *searcher) write() {
	a.style()
	a.ask()
	if a.hop < len(a.question.Hops) { // nothing in the prompt tells
		if !a.begin() {
			return
		}
	}
	most := 2 + a.IntN(2) // searches without success
	for n := 0; ; n++ {
		if a.hop == len(a.question.Hops) {
			a.conclude(a.question.Answers[0])
			return
		}
		if n > 0 && a.fresh() {
			most++
		}
		if n == most {
			a.giveUp()
			return
		}
		if n > 0 {
			switch between := a.hop == 1 && a.fresh(); {
			case between && a.chance(a.w.EarlyAnswer):
				a.conclude(a.question.Hops[0].Object)
				return
			case !between && a.chance(a.w.GiveUp):
				a.giveUp()
				return
			}
		}
		a.search()
		if a.chance(0.04) { // and there the harness stopped
			return
		}
	}
}

// fresh says whether the last search moved on to another hop.
func (a *searcher) fresh() bool { return len(a.last) == 0 }

// style draws the harness.
func (a *searcher) style() {
	a.form = pick(a, passageForms)
	a.most = pick(a, []int{1, 1, 1, 1, 2, 2, 3, 3, 4})
	short := 0.35
	if a.brief {
		a.most, short = pick(a, []int{1, 1, 1, 2, 3}), 0.1
	}
	if a.chance(short) {
		a.cut = 40 + a.IntN(110)
	}
	if a.chance(0.25) {
		a.heading = pick(a, headings)
	}
}

// ask writes the system prompt, if any, and the question with its requests; some harnesses have searched before they ask.
func (a *searcher) ask() {
	if !a.brief && a.chance(0.35) {
		a.say(whale.RoleSystem, a.requests(1+a.IntN(3)))
	}
	parts := []string{a.question.Text}
	if a.chance(0.2) {
		parts[0] = pick(a, []string{"Question: ", "Question:\n", "Q: "}) + parts[0]
	}
	if a.chance(0.9) {
		extra := a.requests(1 + a.IntN(3))
		if a.chance(0.25) {
			parts = []string{extra, parts[0]}
		} else {
			parts = append(parts, extra)
		}
	}
	before := 0.2
	if a.brief {
		before = 0.4
	}
	if a.chance(before) {
		found := a.look(a.question.Hops[0].Title, a.chance(0.4))
		if a.chance(0.5) {
			parts = append(parts, found)
		} else {
			parts = append([]string{found}, parts...)
		}
	}
	a.say(whale.RoleUser, strings.Join(parts, pick(a, []string{"\n", "\n", "\n", " ", "\n\n"})))
}

func (a *searcher) requests(n int) string {
	var parts []string
	for range n {
		parts = append(parts, pick(a, pick(a, [][]string{searchRequests, tagRequests, tagRequests, manners})))
	}
	return strings.Join(parts, " ")
}

// begin is what may come before the first search; false ends the transcript.
func (a *searcher) begin() bool {
	for range 3 {
		switch {
		case a.chance(a.w.Ramble):
			a.ramble()
		case a.chance(a.w.Guess):
			a.answer(pick(a, append(names(a.question.Hops[0].Title), "not known")), a.chance(a.w.ForgetTag))
		default:
			return true
		}
		if a.chance(0.35) {
			return false
		}
		a.say(whale.RoleUser, pick(a, searchNudges))
		if !a.chance(a.w.Deaf) {
			return true
		}
	}
	return false
}

// search makes a query and shows what it finds.
func (a *searcher) search() {
	subject, asked := a.question.Hops[a.hop].Title, a.question.Text
	if a.hop == 1 {
		asked = a.later()
	}
	query := subject
	repeat := len(a.last) > 0 && a.chance(a.w.Repeat)
	switch {
	case repeat:
		query = a.last[len(a.last)-1]
	case len(a.last) == 0 && a.chance(a.w.Verbatim):
		query = asked
	}
	a.last = append(a.last, query)
	a.say(whale.RoleAssistant, fmt.Sprintf(pick(a, searches), query))
	whole := query != subject && a.chance(0.75) // some harnesses search for something else than what they are told
	text := a.look(subject, whole)
	switch {
	case a.chance(0.12):
		text += "\n" + pick(a, [][]string{tagRequests, searchRequests, afterSearch}[a.IntN(3)])
	case a.chance(0.12):
		text += "\n" + pick(a, []string{"Question: ", "The question: ", ""}) + a.question.Text
	}
	role := whale.RoleTool
	if a.chance(0.2) {
		role = whale.RoleUser
	}
	a.say(role, text)
}

// later words the second hop as a question about the first one's object.
func (a *searcher) later() string {
	h := a.question.Hops[1]
	if forms := a.world.wordings[h.Relation]; len(forms) > 0 {
		return strings.ReplaceAll(pick(a, forms), "{s}", h.Title)
	}
	return h.Title
}

// look searches, notes what is now known and gives the text of the passages.
func (a *searcher) look(subject string, whole bool) string {
	n := a.most
	a.seen = a.world.find(a, subject, whole, n)
	var parts []string
	for i, x := range a.seen {
		if a.cut > 0 && utf8.RuneCountInString(x.Text) > a.cut {
			x.Text = string([]rune(x.Text)[:a.cut])
			a.seen[i] = x
			if a.form.dots != "" {
				x.Text += a.form.dots
			}
		}
		parts = append(parts, fmt.Sprintf(a.form.one, i+1, x.Title, x.Text))
	}
	a.learn()
	return a.heading + strings.Join(parts, a.form.between)
}

// learn moves on past the hops whose fact is in sight.
func (a *searcher) learn() {
	for a.hop < len(a.question.Hops) {
		h := a.question.Hops[a.hop]
		known := false
		for _, x := range a.seen {
			known = known || x.Title == h.Title && strings.Contains(x.Text, h.Object)
		}
		if !known {
			return
		}
		a.hop++
		a.last = nil
	}
}

// giveUp answers with something that the passages name.
func (a *searcher) giveUp() {
	found := []string{"not known"}
	for _, x := range a.seen {
		found = append(found, names(x.Text)...)
	}
	a.answer(pick(a, found), a.chance(a.w.ForgetTag))
}

// conclude answers; where the tag is forgotten, a harness may remind.
func (a *searcher) conclude(text string) {
	forget := a.chance(a.w.ForgetTag)
	a.answer(text, forget)
	if forget && a.chance(0.6) {
		a.say(whale.RoleUser, pick(a, tagNudges))
		a.answer(text, a.chance(a.w.Deaf))
	}
}

func (a *searcher) answer(text string, prose bool) {
	if prose {
		a.say(whale.RoleAssistant, fmt.Sprintf(pick(a, proseAnswers), text))
		return
	}
	a.say(whale.RoleAssistant, fmt.Sprintf(pick(a, taggedAnswers), text))
}

func (a *searcher) ramble() {
	var b strings.Builder
	words := names(a.question.Text)
	for n := 6 + a.IntN(16); n > 0; n-- {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		s := pick(a, rambles)
		if strings.Contains(s, "%s") {
			if len(words) == 0 {
				continue
			}
			s = fmt.Sprintf(s, pick(a, words))
		}
		b.WriteString(s)
	}
	a.open(b.String())
}
