package audit

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// popularShare is the share of the examples from which an answer says nothing: "yes", or the first of four choices.
const popularShare = 0.02

// addAnswer indexes the texts and numbers of an example's answer.
func (c *Corpus) addAnswer(i int32, x whale.Example) {
	for _, text := range leaves(x.Answer) {
		ts := tokens(text, 64)
		if len(ts) == 0 {
			continue
		}
		key := joined(ts)
		a, ok := c.answers[key]
		if !ok {
			a.number = isNumber(ts)
		}
		a.count++
		if len(a.examples) < maxOwners {
			a.examples = append(a.examples, i)
		}
		c.answers[key] = a
	}
}

// leaves gives the texts and numbers of a JSON value, at most 64. What is no JSON counts as a text.
func leaves(raw json.RawMessage) []string {
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return []string{string(raw)}
	}
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		case []any:
			for _, e := range v[:min(len(v), 64)] {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return out[:min(len(out), 64)]
}

// isNumber says whether an answer is one number, with or without a sign.
func isNumber(ts []token) bool {
	return len(ts) == 1 && ts[0].number || len(ts) == 2 && ts[0].op && ts[1].number
}

// answerWeight says how much a text tells that it was known: long ones much, short and ordinary words little, and the less the more
// examples have it for an answer.
func (c *Corpus) answerWeight(ts []string, count int32) float64 {
	words, letters := 0, 0
	for _, t := range ts {
		h := hashWord(t)
		if len(t) == 1 && !isDigit(rune(t[0])) && strings.ContainsAny(t, operators) || ordinary(t) && !isDigit(rune(t[0])) || c.spoken[h] {
			continue
		}
		words++
		letters += len(t)
		if len(ts) == 1 && c.n > 1000 && c.words[h].count > 3 { // a word of questions, too
			return 0.1
		}
	}
	rarity := 1 / (1 + math.Log2(float64(count)))
	switch {
	case words == 0:
		return 0
	case words >= 5 && letters >= 25:
		return 3
	case words >= 2 && letters >= 8:
		return rarity
	case letters >= 4:
		return 0.5 * rarity
	}
	return 0.25 * rarity
}

// finishAnswers weighs the answers, drops what many examples answer, and counts how much of the numbers the answers cover.
func (c *Corpus) finishAnswers() {
	for key, a := range c.answers {
		if !a.number {
			a.weight = c.answerWeight(strings.Fields(key), a.count)
			c.answers[key] = a
		}
		if a.count > 2 && c.share(a.count) > popularShare || !a.number && a.weight == 0 {
			delete(c.answers, key)
			continue
		}
		if !a.number {
			c.longest = max(c.longest, strings.Count(key, " ")+1)
			if squashed := strings.ReplaceAll(key, " ", ""); squashed != key && len(squashed) >= 8 && a.weight >= 0.5 {
				c.squashed[squashed] = key
			}
		} else if bucket, size := bucketOf(strings.TrimLeft(key, "- ")); bucket != "" {
			c.taken[bucket] += 1 / size
		}
	}
	c.longest = min(c.longest, 12)
}

// bucketOf gives the neighbourhood of an integer, the numbers of its length that begin as it does, and how many those are: a year is
// compared with years. It is "" where there is none.
func bucketOf(n string) (bucket string, size float64) {
	if n == "" || strings.Contains(n, ".") {
		return "", 0
	}
	lead := min(2, max(1, len(n)-2))
	return strconv.Itoa(len(n)) + ":" + n[:lead], math.Pow10(min(len(n)-lead, 40))
}

// numberAnswer says whether a number is an answer that is worth a look.
func (c *Corpus) numberAnswer(n string) bool {
	a, ok := c.answers[n]
	return ok && a.number && !usual(n)
}

// tail is the chance of at least k among events whose chances add up to mean, where each is small (Poisson).
func tail(k int, mean float64) float64 {
	if k <= 0 {
		return 1
	}
	term, sum := math.Exp(-mean), 0.0
	for i := range k {
		sum += term
		term *= mean / float64(i+1)
	}
	return max(0, 1-sum)
}
