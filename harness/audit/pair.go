package audit

import (
	"cmp"
	"slices"
	"strings"
)

// pairs looks for rows in which words of a question stand beside its answer: entries of tables, lines of texts.
func (j *judge) pairs() {
	found := map[string]bool{}
	var places []place
	check := func(cells []string, at place) {
		for i, c := range cells {
			ts := tokens(c, 16)
			if len(ts) == 0 || len(ts) > 12 {
				continue
			}
			key := joined(ts)
			a, ok := j.answers[key]
			if !ok || a.number && usual(key) {
				continue
			}
			for k, other := range cells {
				if k != i && j.belongs(other, a) {
					row := key + "\x00" + other
					if !found[row] {
						found[row] = true
						if !slices.Contains(places, at) {
							places = append(places, at)
						}
					}
				}
			}
		}
	}
	for _, t := range j.tables {
		for _, r := range t.rows {
			if len(r.cells) >= 2 && len(r.cells) <= 16 {
				check(r.cells, t.at)
			}
		}
	}
	for _, v := range j.texts() {
		for line := range strings.SplitSeq(v.text, "\n") {
			cells := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("|;:=\t→>", r) })
			if len(cells) >= 2 && len(cells) <= 64 {
				for i := range cells[:len(cells)-1] {
					check([]string{cells[i], cells[i+1]}, v.at)
				}
			}
		}
	}
	need := 2
	for size := 2000; size < j.n; size *= 4 { // of more examples more are met by chance
		need++
	}
	if len(found) < need {
		return
	}
	for _, at := range places {
		j.report(RulePairs, at, "words of questions stand here beside their answers")
	}
}

// belongs says whether a text has words of a question with this answer, and of few others: a rare word, or several in a row.
func (j *judge) belongs(text string, a answer) bool {
	ts := tokens(text, 256)
	if len(ts) == 0 {
		return false
	}
	var words []uint32
	for _, t := range ts {
		words = append(words, t.hash)
	}
	if len(ts) >= 2 && len(ts) <= 64 && j.ownerHas(a, words) && j.few(words) {
		return true
	}
	for _, t := range ts {
		if t.op || ordinary(t.text) || t.number && (usual(t.text) || len(t.text) < 3) || j.spoken[t.hash] {
			continue
		}
		if f := j.words[t.hash]; f.count > 0 && int(f.count) <= j.rare && j.ownerHas(a, []uint32{t.hash}) {
			return true
		}
	}
	return false
}

// ownerHas says whether a question with this answer has these words in a row.
func (j *judge) ownerHas(a answer, words []uint32) bool {
	texts := j.Corpus.texts
	for _, owner := range a.examples {
		i, _ := slices.BinarySearchFunc(texts, owner, func(x indexed, owner int32) int { return cmp.Compare(x.example, owner) })
		for ; i < len(texts) && texts[i].example == owner; i++ {
			if holds(texts[i].words, words) {
				return true
			}
		}
	}
	return false
}

// few says whether at most a few examples have these words in a row.
func (j *judge) few(words []uint32) bool {
	if j.scans++; j.scans > maxScans {
		return false
	}
	n := 0
	for i := range j.Corpus.texts {
		if holds(j.Corpus.texts[i].words, words) {
			if n++; n > j.rare {
				return false
			}
		}
	}
	return n > 0
}

// maxScans bounds the scans of all texts for one program.
const maxScans = 60

func holds(all, part []uint32) bool {
	for i := 0; i+len(part) <= len(all); i++ {
		if all[i] == part[0] && slices.Equal(all[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
