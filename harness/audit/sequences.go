package audit

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// run is the numbers of one text or table, in their order.
type run struct {
	numbers []string
	at      place
	what    string
}

// runs gives the number runs of all texts and tables.
func (j *judge) runs() []run {
	var out []run
	for _, v := range j.texts() {
		if v.from == mirrored {
			continue
		}
		out = append(out, run{numbersOf(v.tokens), v.at, v.what()})
	}
	for _, t := range j.tables {
		var all []string
		for _, r := range t.rows {
			for _, c := range r.cells {
				all = append(all, numbersOf(tokens(c, 256))...)
			}
			if len(all) > 4096 {
				break
			}
		}
		out = append(out, run{all, t.at, "this table"})
	}
	return out
}

func numbersOf(ts []token) []string {
	var out []string
	for _, t := range ts {
		if t.number {
			out = append(out, t.text)
		}
	}
	return out
}

// longestRun is the most numbers of a question that are looked for in a row.
const longestRun = 5

// eachWindow calls f with every stretch of two to longestRun numbers, of which not all are usual ones.
func eachWindow(r run, f func(seq string, numbers []string)) {
	for i := range r.numbers {
		odd := false
		for k := i; k < min(len(r.numbers), i+longestRun); k++ {
			odd = odd || !usual(r.numbers[k])
			if k > i && odd && !counting(r.numbers[i:k+1]) {
				f(strings.Join(r.numbers[i:k+1], " "), r.numbers[i:k+1])
			}
		}
	}
}

// counting says whether numbers follow each other by one: thirteen, fourteen.
func counting(list []string) bool {
	for i := 1; i < len(list); i++ {
		a, err := strconv.ParseInt(list[i-1], 10, 64)
		b, err2 := strconv.ParseInt(list[i], 10, 64)
		if err != nil || err2 != nil || b != a+1 {
			return false
		}
	}
	return true
}

// windows counts the distinct number windows of the program, by shape: how often it had the chance to meet a question's numbers.
func (j *judge) windows() map[string]int {
	if j.shapes != nil {
		return j.shapes
	}
	j.shapes = map[string]int{}
	seen := map[string]bool{}
	for _, r := range j.runs() {
		eachWindow(r, func(seq string, numbers []string) {
			if !seen[seq] {
				seen[seq] = true
				shape, _ := shapeOf(numbers)
				j.shapes[shape]++
			}
		})
	}
	return j.shapes
}

// numberSequences looks for the numbers of whole questions in a row, however they are worded or packed. What the program holds by
// chance is reckoned from how much of the numbers of a shape the examples cover.
func (j *judge) numberSequences() {
	mean := 0.0
	windows := j.windows()
	for _, shape := range slices.Sorted(maps.Keys(windows)) {
		mean += j.coverage[shape] * float64(windows[shape])
	}
	met := map[string]bool{}
	var places []run
	for _, r := range j.runs() {
		here := false
		eachWindow(r, func(seq string, _ []string) {
			if j.Corpus.numbers[seq] {
				met[seq] = true
				here = true
			}
		})
		if here {
			places = append(places, r)
		}
	}
	if len(met) == 0 || tail(len(met), mean) >= j.options.Chance {
		return
	}
	for _, r := range places {
		j.report(RuleNumbers, r.at, "%s repeats numbers of questions", r.what)
	}
}

// numberHints looks for numbers of questions beside their answers, at least three, where no calculation in the text explains them.
func (j *judge) numberHints() {
	met := map[string]bool{}
	tried := map[string]bool{}
	var places []run
	for _, r := range j.runs() {
		here := false
		free := unexplained(r.numbers)
		for i := 1; i < len(free); i++ {
			for _, pair := range []string{hint(free[i-1], free[i]), hint(free[i], free[i-1])} {
				if pair == "" {
					continue
				}
				tried[pair] = true
				if j.hints[pair] {
					met[pair] = true
					here = true
				}
			}
		}
		if here {
			places = append(places, r)
		}
	}
	shapes := map[string]int{}
	for pair := range tried {
		shape, _ := shapeOf(strings.Fields(pair))
		shapes[shape]++
	}
	mean := 0.0
	for _, shape := range slices.Sorted(maps.Keys(shapes)) {
		mean += j.hinted[shape] * float64(shapes[shape])
	}
	if len(met) < 3 || tail(len(met), mean) >= j.options.Chance {
		return
	}
	for _, r := range places {
		j.report(RuleNumbers, r.at, "%s holds numbers of questions beside their answers", r.what)
	}
}

// unexplained leaves out the numbers that are the result of a step or two from the ones before them, and those: worked examples.
func unexplained(numbers []string) []string {
	numbers = numbers[:min(len(numbers), 2000)]
	values := make([]float64, len(numbers))
	for i, n := range numbers {
		values[i], _ = strconv.ParseFloat(n, 64)
	}
	explained := make([]bool, len(numbers))
	for i := range values {
		lo := max(0, i-4)
		for a := lo; a < i; a++ {
			for b := lo; b < i; b++ {
				if a == b {
					continue
				}
				for _, v := range step(values[a], values[b]) {
					if v == values[i] {
						explained[a], explained[b], explained[i] = true, true, true
					}
					for c := lo; c < i; c++ {
						if c == a || c == b {
							continue
						}
						for _, w := range append(step(v, values[c]), step(values[c], v)...) {
							if w == values[i] {
								explained[a], explained[b], explained[c], explained[i] = true, true, true, true
							}
						}
					}
				}
			}
		}
	}
	var out []string
	for i, n := range numbers {
		if !explained[i] {
			out = append(out, n)
		}
	}
	return out
}

func step(a, b float64) []float64 {
	out := []float64{a + b, a - b, a * b}
	if b != 0 {
		out = append(out, a/b)
	}
	return out
}

// numberTables looks for tables and packed texts whose numbers are answers.
func (j *judge) numberTables() {
	for _, t := range j.tables {
		for _, column := range numberColumns(t) {
			j.judgeNumbers(column, t.at, "this table")
		}
	}
	for _, v := range j.texts() {
		if list := bareNumbers(v.tokens); len(list) >= 4 && v.from != mirrored {
			j.judgeNumbers(list, v.at, v.what())
		}
	}
}

// numberColumns gives the numbers of a table: of its keys and its values apart, for each may follow a law of its own.
func numberColumns(t table) [][]string {
	var keys, values []string
	for _, r := range t.rows {
		for i, c := range r.cells {
			ts := tokens(c, 4)
			if len(ts) == 0 || !isNumber(ts) {
				continue
			}
			if r.keyed && i == 0 || !r.keyed && i == 0 && len(r.cells) > 1 {
				keys = append(keys, ts[len(ts)-1].text)
			} else {
				values = append(values, ts[len(ts)-1].text)
			}
		}
	}
	return [][]string{keys, values}
}

// judgeNumbers reports a list of numbers that are answers more often than by chance, or that is long and all answers.
func (j *judge) judgeNumbers(list []string, at place, what string) {
	if lawful(list) {
		return
	}
	distinct, answers, mean := 0, 0, 0.0
	seen := map[string]bool{}
	for _, n := range list {
		if seen[n] || usual(n) {
			continue
		}
		seen[n] = true
		distinct++
		if bucket, _ := bucketOf(n); bucket != "" {
			mean += min(1, j.taken[bucket])
		}
		if j.numberAnswer(n) {
			answers++
		}
	}
	switch {
	case answers >= 3 && tail(answers, mean) < j.options.Chance:
	case answers >= manyNumbers && 4*answers >= 3*distinct:
	default:
		return
	}
	j.report(RuleNumbers, at, "%s holds numbers that are answers of examples", what)
}

// manyNumbers is how many unusual numbers in one list are too many where all of them are answers, though so may be any number.
const manyNumbers = 6

// lawful says whether a list of numbers follows a simple law.
func lawful(list []string) bool {
	ints := bigs(list)
	return ints != nil && regular(ints)
}

// bareNumbers gives the numbers of a text that stand side by side or with one word between, and are no part of a calculation.
func bareNumbers(ts []token) []string {
	var out, row []string
	last := -10
	flush := func() {
		if len(row) >= 4 {
			out = append(out, row...)
		}
		row = nil
	}
	for i, t := range ts {
		if !t.number {
			continue
		}
		if i > 0 && ts[i-1].op && ts[i-1].text != "-" && ts[i-1].text != "=" || i+1 < len(ts) && ts[i+1].op && ts[i+1].text != "-" && ts[i+1].text != "=" ||
			i > 1 && ts[i-1].text == "=" && ts[i-2].number {
			continue
		}
		if i-last > 3 {
			flush()
		}
		row = append(row, t.text)
		last = i
	}
	flush()
	return slices.Clip(out)
}
