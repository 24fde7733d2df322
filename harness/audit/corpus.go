package audit

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// Corpus is the index of a set of examples. It is immutable, and any number of audits may use it at once.
type Corpus struct {
	options    Options
	n          int                  // examples
	fieldNames []string             // of views, sorted
	fields     map[string][]string  // the examples' view by field, for derivations; "" where an example has no such field
	texts      []indexed            // every text of every view
	whole      map[uint64]int32     // whole texts → index in texts
	grams      map[uint64]hit       // sequences of gramWords words
	frames     map[uint64]frequency // sequences of frameWords words, all numbers being the same
	words      map[uint32]frequency // words
	public     map[uint64]bool      // sequences of gramWords words that anyone may say
	spoken     map[uint32]bool      // words of the public texts

	answers  map[string]answer  // by their words
	squashed map[string]string  // text answers of several words, without the spaces → with them
	longest  int                // words of the longest text answer that is looked for in prose
	taken    map[string]float64 // share of the numbers of a neighbourhood that are answers
	numbers  map[string]bool    // number sequences of whole texts, two or more
	coverage map[string]float64 // share of the number sequences of a shape that are in numbers
	hints    map[string]bool    // a number of a question and its answer, where that is a number
	hinted   map[string]float64 // share of the pairs of a shape that are in hints
	ids      map[string]bool    // folded
	idLens   []int              // lengths of ids
	idWords  map[string]bool    // their first eight characters, where ids are hashes
	names    []string           // folded words, joined
	rare     int                // examples that a branch singles out at most
}

// indexed is a text of an example as words.
type indexed struct {
	example int32
	words   []uint32
	numbers []uint16 // places of the numbers among the words
}

type hit struct {
	text, at, count int32 // the first text that has it, and where; how many examples have it
	last            int32
}

type frequency struct{ count, last int32 }

// answer is a distinct answer, by its words.
type answer struct {
	count    int32   // examples that have it
	examples []int32 // the first of them
	number   bool
	weight   float64 // of a text, as in Options.Answers
}

const (
	gramWords    = 5
	frameWords   = 3
	maxTextWords = 512     // of a text of an example; what follows is not indexed
	maxWords     = 3 << 20 // of all texts; where there are more, each is indexed up to fewer words, but no fewer than minTextWords
	minTextWords = 48
	maxOwners    = 32 // examples kept of an answer
)

// NewCorpus indexes examples. All fields of a view count as text of the question.
func NewCorpus(examples []whale.Example, o Options) (*Corpus, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(examples) > math.MaxInt32/64 {
		return nil, errors.New("audit: too many examples")
	}
	c := &Corpus{
		options: o, n: len(examples), fields: map[string][]string{}, whole: make(map[uint64]int32, len(examples)),
		grams: make(map[uint64]hit, 16*len(examples)), frames: map[uint64]frequency{}, words: map[uint32]frequency{},
		public: map[uint64]bool{}, spoken: map[uint32]bool{}, answers: make(map[string]answer, len(examples)),
		squashed: map[string]string{}, hints: map[string]bool{}, hinted: map[string]float64{}, taken: map[string]float64{}, numbers: map[string]bool{}, coverage: map[string]float64{}, ids: map[string]bool{}, idWords: map[string]bool{},
		rare: max(2, int(o.RareShare*float64(len(examples)))),
	}
	for _, text := range o.Public {
		ts := tokens(text, maxTokens)
		for i, t := range ts {
			c.spoken[t.hash] = true
			if i+gramWords <= len(ts) {
				c.public[gram(ts[i:i+gramWords])] = true
			}
		}
	}
	limit := wordLimit(examples)
	for i, x := range examples {
		c.addView(int32(i), x.View, limit)
		c.addAnswer(int32(i), x)
		c.addHints(x, limit)
		c.addID(x)
	}
	c.finishAnswers()
	c.finishNumbers()
	c.finishIDs()
	c.addNames(o.Names)
	return c, nil
}

// wordLimit says up to how many words the texts are indexed, so that an index of long texts is not out of proportion.
func wordLimit(examples []whale.Example) int {
	words, texts := 0, 0
	for _, x := range examples {
		for _, text := range x.View {
			words += min(len(text)/6, maxTextWords)
			texts++
		}
	}
	if words <= maxWords {
		return maxTextWords
	}
	return min(maxTextWords, max(minTextWords, maxWords/texts))
}

func (c *Corpus) addView(i int32, view map[string]string, limit int) {
	for _, name := range slices.Sorted(maps.Keys(view)) {
		text := view[name]
		column := c.fields[name]
		if column == nil {
			column = make([]string, c.n)
			c.fields[name] = column
			c.fieldNames = append(c.fieldNames, name)
		}
		column[i] = text
		ts := tokens(text, limit)
		if len(ts) > 0 {
			c.addText(i, ts)
		}
	}
}

func (c *Corpus) addText(i int32, ts []token) {
	at := int32(len(c.texts))
	t := indexed{example: i, words: make([]uint32, len(ts))}
	var numbers []string
	for k, w := range ts {
		t.words[k] = w.hash
		if w.number {
			t.numbers = append(t.numbers, uint16(k))
			numbers = append(numbers, w.text)
		}
		if f := c.words[w.hash]; f.last != i+1 {
			c.words[w.hash] = frequency{f.count + 1, i + 1}
		}
		if k+frameWords <= len(ts) {
			h := frameOf(ts[k : k+frameWords])
			if f := c.frames[h]; f.last != i+1 {
				c.frames[h] = frequency{f.count + 1, i + 1}
			}
		}
		if k+gramWords <= len(ts) {
			h := gram(ts[k : k+gramWords])
			g, ok := c.grams[h]
			if !ok {
				g.text, g.at = at, int32(k)
			}
			if g.last != i+1 {
				g.count, g.last = g.count+1, i+1
				c.grams[h] = g
			}
		}
	}
	c.texts = append(c.texts, t)
	if h := gram(ts); c.whole[h] == 0 {
		c.whole[h] = at + 1
	}
	if len(numbers) >= 2 {
		c.numbers[strings.Join(numbers, " ")] = true
	}
}

// finishNumbers counts how much of each shape of number sequences the examples cover.
func (c *Corpus) finishNumbers() {
	for seq := range c.numbers {
		shape, size := shapeOf(strings.Fields(seq))
		c.coverage[shape] += 1 / size
	}
}

// hint joins a number of a question and an answer; "" where both are usual or short.
func hint(n, answer string) string {
	if n == answer || usual(n) && usual(answer) || len(n)+len(answer) < 4 {
		return ""
	}
	return n + " " + answer
}

// addHints indexes the numbers of an example with its answer.
func (c *Corpus) addHints(x whale.Example, limit int) {
	for _, text := range leaves(x.Answer) {
		ts := tokens(text, 4)
		if !isNumber(ts) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(x.View)) {
			numbers := numbersOf(tokens(x.View[name], limit))
			for _, n := range numbers[:min(len(numbers), 2*longestRun)] {
				if h := hint(n, ts[len(ts)-1].text); h != "" && !c.hints[h] {
					c.hints[h] = true
					shape, size := shapeOf(strings.Fields(h))
					c.hinted[shape] += 1 / size
				}
			}
		}
	}
}

// shapeOf gives the lengths of numbers, and how many sequences of that shape there are.
func shapeOf(numbers []string) (shape string, size float64) {
	size = 1
	var b strings.Builder
	for _, n := range numbers {
		b.WriteString(strconv.Itoa(len(n)))
		b.WriteByte(' ')
		size *= 9 * math.Pow10(min(len(n)-1, 40))
	}
	return b.String(), size
}

// share says how many of the examples a count is.
func (c *Corpus) share(count int32) float64 { return float64(count) / float64(max(1, c.n)) }

// bits is how much a word tells of which example it is of: the logarithm of one over its share.
func (c *Corpus) bits(word uint32) float64 {
	return math.Log2(float64(c.n+1) / float64(c.words[word].count+1))
}

func (c *Corpus) addID(x whale.Example) {
	for _, id := range []string{x.ID, x.Meta["source_id"]} {
		if distinctiveID(id) {
			c.ids[strings.ToLower(id)] = true
		}
	}
}

// distinctiveID leaves out ids that are short, plain numbers or words.
func distinctiveID(id string) bool {
	return len(id) >= 5 && strings.ContainsAny(id, "0123456789") && (len(id) >= 8 || strings.Trim(id, "0123456789") != "")
}

func (c *Corpus) finishIDs() {
	for id := range c.ids {
		if !slices.Contains(c.idLens, len(id)) {
			c.idLens = append(c.idLens, len(id))
		}
		if isHex(id) && len(id) >= 16 {
			c.idWords[id[:8]] = true
		}
	}
	slices.Sort(c.idLens)
}

func isHex(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}

// addNames keeps the names that are not ordinary words.
func (c *Corpus) addNames(names []string) {
	for _, name := range names {
		ts := tokens(name, 64)
		if len(ts) == 0 || len(name) < 4 {
			continue
		}
		if len(ts) == 1 && (ordinary(ts[0].text) || c.share(c.words[ts[0].hash].count) > 0.05 || ts[0].number) {
			continue
		}
		if !slices.ContainsFunc(ts, func(t token) bool { return !t.op && !ordinary(t.text) }) {
			continue
		}
		c.names = append(c.names, joined(ts))
	}
	slices.Sort(c.names)
	c.names = slices.Compact(c.names)
}
