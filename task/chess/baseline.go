package chess

import (
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// chance is the probability that always picking a legal move at random, each as likely, plays a puzzle's line.
func chance(choices []choice, alternate bool) float64 {
	p := 1.0
	for i, c := range choices {
		right := 1
		if alternate && i == len(choices)-1 {
			right = c.mating
			if !c.mates {
				right++
			}
		}
		p *= float64(right) / float64(c.legal)
	}
	return p
}

// RandomBaseline is the accuracy of always picking a legal move at random, as an exact expectation over a split; 0 where the split is empty. No figure of
// this domain says much without it.
func (t *Task) RandomBaseline(s whale.Split) (float64, error) {
	list, ok := t.chances[s]
	if !ok && len(t.examples[s]) == 0 {
		if _, err := t.Examples(s); err != nil {
			return 0, err
		}
		return 0, nil
	}
	sum := 0.0
	for _, p := range list {
		sum += p
	}
	return sum / float64(len(list)), nil
}

// baselineNote tells the baselines of all splits on one line.
func (t *Task) baselineNote() string {
	var parts []string
	for _, s := range splits() {
		if len(t.examples[s]) == 0 {
			continue
		}
		if p, err := t.RandomBaseline(s); err == nil {
			parts = append(parts, fmt.Sprintf("%.2f%% of %s", 100*p, s))
		}
	}
	return "chess: always picking a random legal move solves " + strings.Join(parts, ", ") + " (exact expectation)"
}
