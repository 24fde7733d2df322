package metaharness

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

// twinHarness is a program that is known by its id alone.
type twinHarness struct {
	whale.Harness
	id whale.ID
}

func (h twinHarness) ID() whale.ID { return h.id }

// twinEvaluator gives every harness independent draws of the same chances, an example.
type twinEvaluator struct {
	rng    *rand.Rand
	chance []float64
}

func (e *twinEvaluator) Evaluate(_ context.Context, h whale.Harness, ask Ask) ([]whale.Rollout, error) {
	out := make([]whale.Rollout, len(e.chance))
	for i, p := range e.chance {
		out[i] = whale.Rollout{State: whale.StateScored, Key: whale.RolloutKey{Weights: "w", Harness: h.ID(), Example: fmt.Sprint(i)}}
		out[i].Episode.Usage.SampledTokens = e.rng.IntN(100)
		if e.rng.Float64() < p {
			out[i].Verdict.Reward = 1
		}
	}
	return out, nil
}

// forgetful is a journal that nothing is read from.
type forgetful struct{}

func (forgetful) Lookup(context.Context, string, string, any) (bool, error) { return false, nil }
func (forgetful) Record(_ context.Context, _, _ string, v any) error {
	_, err := json.Marshal(v)
	return err
}

// acceptsTwin plays the choices of one phase in which every candidate and every runner-up is the incoming harness under another name, on
// independent draws, and says whether one of them is accepted in the end.
func acceptsTwin(t *testing.T, s Selection, seed uint64) bool {
	t.Helper()
	const examples, sessions, candidates, runnersUp = 24, 3, 3, 2
	rng := rand.New(rand.NewPCG(seed, 7))
	e := &twinEvaluator{rng: rng}
	r := &run{
		Search:    &Search{Config: Config{Sessions: sessions, Candidates: candidates, Selection: s}, Deps: Deps{Evaluator: e, Log: forgetful{}}},
		selection: s.withDefaults(), archive: &archive{current: -1}, phase: Phase{Weights: whale.WeightsRef{ID: "w"}, RunnersUp: make([]whale.Harness, runnersUp)},
	}
	for i := range examples {
		e.chance = append(e.chance, rng.Float64())
		r.examples = append(r.examples, fmt.Sprint(i))
	}
	ctx := context.Background()
	add := func(n int) {
		for range n {
			h := twinHarness{id: whale.ID(fmt.Sprint("twin-", len(r.archive.entries)))}
			rollouts, err := e.Evaluate(ctx, h, Ask{Purpose: whale.PurposeSearch})
			if err != nil {
				t.Fatal(err)
			}
			score, missing, err := r.score(h, rollouts)
			if err != nil || missing != "" {
				t.Fatal(missing, err)
			}
			r.archive.entries = append(r.archive.entries, Entry{
				Candidate: Candidate{ID: h.id}, Decision: Decision{Status: StatusEvaluated, Score: &score}, Harness: h, passes: passesOf(rollouts),
			})
		}
	}
	add(1)
	r.archive.accept(0)
	for n, more := range []int{runnersUp, candidates, candidates, candidates} {
		first := len(r.archive.entries)
		add(more)
		if _, _, err := r.choose(ctx, n-1, fmt.Sprint(n), first, false); err != nil {
			t.Fatal(err)
		}
	}
	accepted := r.archive.accepted().ID
	if challengers := r.challengers(); len(challengers) > 0 {
		c, err := r.reevaluate(ctx, challengers)
		if err != nil {
			t.Fatal(err)
		}
		accepted = c.Accepted
	}
	return accepted != r.archive.entries[0].ID
}

// Twins of the incoming harness on independent draws: the share of phases that accept one is under the stated level with paired acceptance,
// with and without re-evaluation, and far above it with the plain best score.
func TestTwinsAreAcceptedNoMoreOftenThanTheLevel(t *testing.T) {
	const phases = 600
	for _, c := range []struct {
		name      string
		s         Selection
		low, high float64
	}{
		{"argmax", Selection{}, 0.8, 1},
		{"argmax, anew", Selection{Reevaluate: 2}, 0.3, 0.9},
		{"mcnemar 0.05", Selection{Accept: AcceptPaired}, 0, 0.05},
		{"mcnemar 0.2", Selection{Accept: AcceptPaired, Level: 0.2}, 0.01, 0.2},
		{"bootstrap 0.2", Selection{Accept: AcceptPaired, Level: 0.2, Test: TestBootstrap}, 0.01, 0.2},
		{"mcnemar 0.2, anew", Selection{Accept: AcceptPaired, Level: 0.2, Reevaluate: 2}, 0.02, 0.2},
		{"mcnemar 0.1, anew on 3 draws", Selection{Accept: AcceptPaired, Level: 0.1, Reevaluate: 3, Draws: 3}, 0.02, 0.1},
		{"bootstrap 0.1, anew on 3 draws", Selection{Accept: AcceptPaired, Level: 0.1, Test: TestBootstrap, Reevaluate: 2, Draws: 3}, 0.02, 0.1},
	} {
		accepted := 0
		for seed := range uint64(phases) {
			if acceptsTwin(t, c.s, seed) {
				accepted++
			}
		}
		share := float64(accepted) / phases
		t.Logf("%s: accepted a twin in %.3f of %d phases", c.name, share, phases)
		if noise := 3 * math.Sqrt(c.high*(1-c.high)/phases); share < c.low || share > c.high+noise {
			t.Errorf("%s: got a share of %.3f, want %.2f to %.2f", c.name, share, c.low, c.high)
		}
	}
}
