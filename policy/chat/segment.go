package chat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
)

// Segment is a piece of a prompt: exactly one of Control, Text and Reply is set. Neighbouring pieces of text are joined before they are
// tokenised, since a token may span the edge.
type Segment struct {
	Control  string // a control token, by name
	Optional bool   // a control token that is plain text, spelled as its name, in a vocabulary without it

	Text string // plain text, whatever it spells

	Reply  whale.ReplyRef // a sampled reply: its ids are spliced in
	End    string         // of a reply: the control token that follows unless the ids end by it
	Drop   string         // of a reply: where not empty, the ids through the last such marker are left out, and the newlines after it
	Inside bool           // of a reply with Drop: it begins before the marker, so that without one nothing is left of it
}

// builder collects segments.
type builder struct {
	segments []Segment
	marks    []Segment // Control and Optional of the template's control tokens, longest name first
	end      string
}

func (t *Template) builder() *builder {
	b := &builder{end: t.Stop[0]}
	for _, c := range t.Controls {
		b.marks = append(b.marks, Segment{Control: c})
	}
	for _, m := range t.Markers {
		b.marks = append(b.marks, Segment{Control: m, Optional: true})
	}
	slices.SortStableFunc(b.marks, func(x, y Segment) int { return cmp.Compare(len(y.Control), len(x.Control)) })
	return b
}

// say adds text from outside.
func (b *builder) say(text string) {
	if text == "" {
		return
	}
	if n := len(b.segments); n > 0 && b.segments[n-1].Text != "" {
		b.segments[n-1].Text += text
		return
	}
	b.segments = append(b.segments, Segment{Text: text})
}

// own adds the template's own words: where they spell one of its control tokens, that token is meant.
func (b *builder) own(text string) {
	for start := 0; start < len(text); {
		i := strings.IndexByte(text[start:], '<') // every control token's name begins so
		if i < 0 {
			break
		}
		start += i
		mark, ok := b.markAt(text[start:])
		if !ok {
			start++
			continue
		}
		b.say(text[:start])
		b.segments = append(b.segments, mark)
		text, start = text[start+len(mark.Control):], 0
	}
	b.say(text)
}

func (b *builder) markAt(text string) (Segment, bool) {
	for _, m := range b.marks {
		if strings.HasPrefix(text, m.Control) {
			return m, true
		}
	}
	return Segment{}, false
}

// reply splices a sampled reply, closed by the template's end of turn.
func (b *builder) reply(ref whale.ReplyRef) {
	b.segments = append(b.segments, Segment{Reply: ref, End: b.end})
}

// answer splices what a reply says after its reasoning. inside says that the prompt it followed had opened the reasoning already.
func (b *builder) answer(ref whale.ReplyRef, inside bool) {
	b.segments = append(b.segments, Segment{Reply: ref, End: b.end, Drop: thinkEnd, Inside: inside})
}
