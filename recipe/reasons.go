package recipe

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/seed-095d5d2b/whale/metaharness"
)

// undecided is the status of a candidate whose session was stopped before it was judged.
const undecided = metaharness.Status("")

// Bounds of what an explanation quotes from the journal: programs and proposers wrote it.
const (
	maxReasons = 6   // different ones of a session
	maxReason  = 200 // characters of each
	maxGate    = 40  // characters of a gate's name
)

// reasons are the different ones for which candidates of a session got no score, in the order in which they were met.
type reasons struct {
	list  []reason
	found map[[2]string]int // place in list by what and text
	more  int               // candidates whose reason is not listed
}

type reason struct {
	what, text string
	times      int
}

// add counts a reason; an empty one says nothing.
func (r *reasons) add(what, text string) {
	if text = told(text, maxReason); text == "" {
		return
	}
	key := [2]string{what, text}
	if i, ok := r.found[key]; ok {
		r.list[i].times++
		return
	}
	if len(r.list) == maxReasons {
		r.more++
		return
	}
	if r.found == nil {
		r.found = map[[2]string]int{}
	}
	r.found[key] = len(r.list)
	r.list = append(r.list, reason{what, text, 1})
}

// write gives each a line.
func (r *reasons) write(b *strings.Builder) {
	for _, x := range r.list {
		fmt.Fprintf(b, "    %s: %s", x.what, x.text)
		if x.times > 1 {
			fmt.Fprintf(b, " (%d times)", x.times)
		}
		b.WriteString("\n")
	}
	if r.more > 0 {
		fmt.Fprintf(b, "    and other reasons, for %d more\n", r.more)
	}
}

// told puts a text of others on one line of n characters at most, without what a terminal would obey instead of show.
func told(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}
