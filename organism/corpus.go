package organism

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/math"
)

// Corpus is the math domain's endless, seeded stream of transcripts: transcript i is a function of (seed, i) and the weaknesses.
type Corpus struct {
	seed     uint64
	problems []math.Problem
}

// NewCorpus generates the problems.
func NewCorpus(r Recipe) (*Corpus, error) {
	g, err := math.NewGenerator(math.GeneratorOptions{Seed: r.Seed, TwoStep: r.Corpus.TwoStep, Bare: r.Corpus.Bare, MaxDigits: r.Corpus.MaxDigits})
	if err != nil {
		return nil, err
	}
	problems, err := g.Pretrain(r.Corpus.Problems)
	if err != nil {
		return nil, err
	}
	return &Corpus{seed: r.Seed, problems: problems}, nil
}

// Transcript gives transcript i with the weaknesses w.
func (c *Corpus) Transcript(i int, w Weaknesses) Transcript {
	s := uint64(whale.DeriveSeed(c.seed, "transcript", strconv.Itoa(i)))
	a := &author{hand: hand{rng: rand.New(rand.NewPCG(c.seed, s))}, w: w}
	a.problem = c.problems[a.rng.IntN(len(c.problems))]
	a.write()
	return a.out
}

// author writes one transcript.
type author struct {
	hand
	w       Weaknesses
	problem math.Problem
}

// write is the life of an episode: asked, first turn, tool results, answer.
func (a *author) write() {
	a.ask()
	switch {
	case a.chance(a.w.Ramble):
		a.ramble()
		if a.chance(0.5) { // a harness cuts it off and reminds; the habit holds
			a.say(whale.RoleUser, pick(a, nudges))
			switch {
			case a.chance(a.w.Ramble):
				a.ramble()
			case a.chance(0.5):
				a.guess()
			default:
				a.work()
			}
		}
	case a.chance(a.w.Mental):
		a.guess()
	default:
		a.work()
	}
}

// ask writes the system prompt, if any, and the question with its requests.
func (a *author) ask() {
	if a.chance(0.35) {
		a.say(whale.RoleSystem, a.requests(1+a.rng.IntN(3), 0.3))
	}
	extra := ""
	if a.chance(0.9) {
		extra = a.requests(1+a.rng.IntN(2), 0.85)
	}
	sep := pick(a, []string{"\n", "\n", " ", "\n\n"})
	switch {
	case extra == "":
		a.say(whale.RoleUser, a.problem.Text)
	case a.chance(0.2):
		a.say(whale.RoleUser, extra+sep+a.problem.Text)
	default:
		a.say(whale.RoleUser, a.problem.Text+sep+extra)
	}
}

// requests joins n phrases, one of them a request for the box with the given probability.
func (a *author) requests(n int, box float64) string {
	var parts []string
	for range n {
		if a.chance(0.3) {
			parts = append(parts, pick(a, toolRequests))
		} else {
			parts = append(parts, pick(a, manners))
		}
	}
	if a.chance(box) {
		parts[a.rng.IntN(n)] = pick(a, boxRequests)
	}
	return strings.Join(parts, " ")
}

// ramble is a turn of thinking aloud that never ends by itself.
func (a *author) ramble() {
	numbers := numbersIn(a.problem.Text)
	var b strings.Builder
	for n := 6 + a.rng.IntN(24); n > 0; n-- {
		s := pick(a, rambles)
		if strings.Contains(s, "%s") {
			s = fmt.Sprintf(s, pick(a, numbers))
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
	}
	a.out = append(a.out, Turn{Role: whale.RoleAssistant, Text: b.String(), Open: true})
}

// guess is a wrong number in the box.
func (a *author) guess() {
	n := a.problem.Answer
	for n == a.problem.Answer {
		n = a.rng.Int64N(2*a.problem.Answer + 20)
	}
	a.say(whale.RoleAssistant, fmt.Sprintf(pick(a, boxedAnswers), strconv.FormatInt(n, 10)))
}

// work solves the problem with the tool, as far as the weaknesses let it.
func (a *author) work() {
	results, err := a.problem.Results()
	if err != nil {
		panic(err) // the generator checks every problem that it makes
	}
	exprs := a.problem.Expressions()
	if len(exprs) > 1 && !a.chance(a.w.SplitCalls) {
		exprs, results = []string{a.problem.Expression()}, results[len(results)-1:]
	}
	if a.chance(a.w.BadCall) {
		numbers := numbersIn(a.problem.Text)
		a.call(fmt.Sprintf(pick(a, badCalls), pick(a, numbers), pick(a, numbers)))
		a.observe(pick(a, errorTexts))
		if a.chance(a.w.RambleLater) {
			a.ramble()
			return
		}
	}
	for i, e := range exprs {
		a.call(e)
		a.observe(fmt.Sprintf(pick(a, resultForms), strconv.FormatInt(results[i], 10)))
		if a.chance(a.w.RambleLater) {
			a.ramble()
			return
		}
		if i+1 < len(exprs) && a.chance(a.w.EarlyAnswer) {
			a.conclude(results[i])
			return
		}
	}
	a.conclude(results[len(results)-1])
}

func (a *author) call(code string) { a.say(whale.RoleAssistant, "```python\n"+code+"\n```") }

func (a *author) observe(text string) {
	role := whale.RoleTool
	if a.chance(0.15) {
		role = whale.RoleUser
	}
	a.say(role, text)
}

// conclude states the answer, with the box or without, and answers a reminder.
func (a *author) conclude(n int64) {
	number := strconv.FormatInt(n, 10)
	boxed := func() { a.say(whale.RoleAssistant, fmt.Sprintf(pick(a, boxedAnswers), number)) }
	prose := func() { a.say(whale.RoleAssistant, fmt.Sprintf(pick(a, proseAnswers), number)) }
	if !a.chance(a.w.ForgetBox) {
		boxed()
		return
	}
	prose()
	if a.chance(0.6) {
		a.say(whale.RoleUser, pick(a, nudges))
		if a.chance(a.w.DeafToNudges) {
			prose()
		} else {
			boxed()
		}
	}
}

// numbersIn lists the numbers of a text, as written.
func numbersIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}
