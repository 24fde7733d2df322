package compare

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxCells bounds the table of a word diff. Beyond it what lies between the common start and the common end counts as replaced.
const maxCells = 4 << 20

var wordOrSpace = regexp.MustCompile(`\s+|\S+`)

// prompt adds the change of a prompt, word by word.
func (d *Diff) prompt(change string, x, y unit) {
	p := Prompt{
		Name: y.name, Change: change, LineA: x.line, LineB: y.line, Before: sizeOf(x.value), After: sizeOf(y.value), old: x.value, new: y.value,
	}
	p.Edits = wordDiff(x.value, y.value)
	for _, e := range p.Edits {
		switch n := len(strings.Fields(e.Text)); e.Change {
		case Added:
			p.WordsAdded += n
		case Removed:
			p.WordsRemoved += n
		}
	}
	d.Prompts = append(d.Prompts, p)
}

func sizeOf(s string) Size {
	return Size{Words: len(strings.Fields(s)), Characters: utf8.RuneCountInString(s)}
}

// wordDiff compares two texts by words and the spaces between them.
func wordDiff(old, new string) []Edit {
	a, b := wordOrSpace.FindAllString(old, -1), wordOrSpace.FindAllString(new, -1)
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var e edits
	e.add("", a[:start]...)
	e.middle(a[start:len(a)-end], b[start:len(b)-end])
	e.add("", a[len(a)-end:]...)
	return readable(e.join())
}

// edits are spans in the making, as words.
type edits []run

type run struct {
	change string
	words  []string
}

func (e *edits) add(change string, words ...string) {
	if len(words) == 0 {
		return
	}
	if n := len(*e); n == 0 || (*e)[n-1].change != change {
		*e = append(*e, run{change: change})
	}
	last := &(*e)[len(*e)-1]
	last.words = append(last.words, words...)
}

func (e edits) join() []Edit {
	out := make([]Edit, len(e))
	for i, r := range e {
		out[i] = Edit{r.change, strings.Join(r.words, "")}
	}
	return out
}

// middle aligns words by a longest common subsequence.
func (e *edits) middle(a, b []string) {
	if (len(a)+1)*(len(b)+1) > maxCells {
		e.add(Removed, a...)
		e.add(Added, b...)
		return
	}
	width := len(b) + 1
	common := make([]int32, (len(a)+1)*width) // [i, j] → of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*width+j] = common[(i+1)*width+j+1] + 1
			} else {
				common[i*width+j] = max(common[(i+1)*width+j], common[i*width+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			e.add("", a[i])
			i, j = i+1, j+1
		case common[(i+1)*width+j] >= common[i*width+j+1]:
			e.add(Removed, a[i])
			i++
		default:
			e.add(Added, b[j])
			j++
		}
	}
	e.add(Removed, a[i:]...)
	e.add(Added, b[j:]...)
}

// readable joins changes that nothing but spaces keeps apart, removed before added.
func readable(e []Edit) []Edit {
	var out []Edit
	for i := 0; i < len(e); {
		if e[i].Change == "" {
			out = append(out, e[i])
			i++
			continue
		}
		var gone, come string
		for ; i < len(e); i++ {
			if e[i].Change == "" && (strings.TrimSpace(e[i].Text) != "" || i+1 == len(e)) {
				break
			}
			if e[i].Change != Added {
				gone += e[i].Text
			}
			if e[i].Change != Removed {
				come += e[i].Text
			}
		}
		if gone != "" {
			out = append(out, Edit{Removed, gone})
		}
		if come != "" {
			out = append(out, Edit{Added, come})
		}
	}
	return out
}
