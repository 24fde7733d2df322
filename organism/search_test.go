package organism

import (
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

func between(text, open, end string) (string, bool) {
	_, after, ok := strings.Cut(text, open)
	inside, _, closed := strings.Cut(after, end)
	return inside, ok && closed
}

// TestSearchControlAnswersFromItsPassages: where a passage in sight states the last fact the control gives it, in the tag.
func TestSearchControlAnswersFromItsPassages(t *testing.T) {
	s := openStream(t, committed(t, "whale-tiny-search").Control()).(*searchStream)
	byText := map[string]string{}
	for _, q := range s.questions {
		byText[q.Text] = q.Answers[0]
	}
	answered, right, searches := 0, 0, 0
	for i := range 1500 {
		tr := s.transcript(i, weak)
		for _, turn := range tr {
			if turn.Role == whale.RoleAssistant && strings.Contains(turn.Text, "<search>") {
				searches++
			}
		}
		last := tr[len(tr)-1]
		if last.Role != whale.RoleAssistant {
			continue
		}
		got, ok := between(last.Text, "<answer>", "</answer>")
		if !ok {
			t.Fatalf("transcript %d ends with %q, want a tagged answer", i, last.Text)
		}
		answered++
		for _, turn := range tr {
			for text, want := range byText {
				if strings.Contains(turn.Text, text) && turn.Role == whale.RoleUser && got == want {
					right++
					goto next
				}
			}
		}
	next:
	}
	if answered < 1200 || float64(right) < 0.75*float64(answered) {
		t.Errorf("got %d right answers of %d, want at least three quarters: the rest is what no search found", right, answered)
	}
	if searches < 1500 {
		t.Errorf("got %d searches in 1500 transcripts", searches)
	}
}

// TestSearchWeaknesses counts first turns.
func TestSearchWeaknesses(t *testing.T) {
	r := committed(t, "whale-tiny-search")
	s := openStream(t, r)
	w := r.Search.Weaknesses
	var rambles, guesses, questions, n float64
	for i := range 4000 {
		tr := s.transcript(i, weak)
		first := tr[0]
		user := tr[0].Text
		for _, turn := range tr {
			if turn.Role == whale.RoleAssistant {
				first = turn
				break
			}
			user = turn.Text
		}
		if strings.Contains(user, ": ") && strings.Count(user, ". ") > 4 { // passages may be in it: another opening
			continue
		}
		n++
		query, ok := between(first.Text, "<search>", "</search>")
		switch {
		case first.Open:
			rambles++
		case !ok:
			guesses++
		case strings.HasSuffix(query, "?"):
			questions++
		}
	}
	rest := n - rambles - guesses
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"ramble", rambles / n, w.Ramble}, {"guess", guesses / (n - rambles), w.Guess}, {"verbatim", questions / rest, w.Verbatim}} {
		if c.got < c.want-0.05 || c.got > c.want+0.05 {
			t.Errorf("%s: got a share of %.3f, want about %.3f", c.name, c.got, c.want)
		}
	}
}
