package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/recipe"
)

// TestPlansOfThePaper: the paper's configs can be planned on a machine that has neither their data nor their models, and the plans have the paper's
// counts (WHALE, section 2): steps an epoch, and a harness phase of six iterations in both of its countings.
func TestPlansOfThePaper(t *testing.T) {
	for _, tc := range []struct {
		domain                   string
		examples                 string
		stepsAnEpoch             string
		epochs, tokens, turns    int
		steps, perTest, rollouts int
		steps06                  int // of the first weight phase, 0.6 epochs
		model                    string
	}{
		{"searchqa", "18946 train, 256 search, 0 validation, 700 test", "74", 4, 8192, 16, 296, 700, 606208, 44, "Qwen/Qwen3.5-2B"},
		{"math", "17917 train, 256 search, 0 validation, 60 test", "70", 6, 8192, 16, 420, 60, 860160, 42, "Qwen/Qwen3.5-2B"},
		{"chess", "16384 train, 256 search, 256 validation, 256 test", "64", 4, 16384, 18, 256, 256, 524288, 38, "Qwen/Qwen3.5-4B"},
	} {
		path := "../../examples/" + tc.domain + "/paper.yaml"
		c, err := recipe.LoadConfig(path)
		if err != nil {
			t.Fatal(err)
		}
		if c.Policy.Kind != recipe.PolicyTinker || c.Policy.Model != tc.model || !c.Policy.Thinking {
			t.Errorf("%s: got policy %+v", tc.domain, c.Policy)
		}
		a := c.Schedule.Adaptive
		for what, got := range map[string][2]float64{
			"learning rate": {c.Weight.LearningRate, 1e-7}, "batch": {float64(c.Weight.Batch), 256}, "group": {float64(c.Weight.Group), 8},
			"minibatch": {float64(c.Weight.Minibatch), 64}, "passes": {float64(c.Weight.Passes), 1}, "accept": {c.Weight.Accept, 0.5}, "adapter": {float64(c.Weight.LoRA.Rank), 0},
			"temperature": {c.Sampling.Temperature, 1}, "top_p": {c.Sampling.TopP, 1}, "top_k": {float64(c.Sampling.TopK), 20},
			"response limit": {float64(c.Limits.Tokens), float64(tc.tokens)}, "turns": {float64(c.Limits.ModelCalls), float64(tc.turns)},
			"M": {float64(c.Search.Candidates), 3}, "runners-up": {float64(c.Search.RunnersUp), 0}, "draws": {float64(c.Evaluation.Draws), 8},
			"E": {c.Schedule.Epochs, 0.6}, "I": {float64(c.Schedule.Sessions), 6}, "epochs": {c.Schedule.TotalEpochs, float64(tc.epochs)},
			"window": {a.WindowEpochs, 0.2}, "minimum": {a.MinimumEpochs, 0.2}, "patience": {a.PatienceEpochs, 0.2},
			"least sessions": {float64(a.MinimumSessions), 6}, "patience in sessions": {float64(a.PatienceSessions), 2}, "most sessions": {float64(a.MaximumSessions), 15},
		} {
			if got[0] != got[1] {
				t.Errorf("%s: %s: got %g, want %g", tc.domain, what, got[0], got[1])
			}
		}
		out := must(t, "plan", path)
		for _, want := range []string{
			fmt.Sprintf("(E, I) = (0.6, 6), %d epochs in all", tc.epochs),
			"examples: " + tc.examples + " (declared by task.counts, not read)",
			"data not here: " + tc.domain + ": ",
			"model not here: " + tc.model + ", of policy.kind tinker",
			fmt.Sprintf("weight rollouts     %d in %d steps", tc.rollouts, tc.steps),
			"4608 rollouts as 6 sessions × 3 candidates × 256 examples",
			"4096 rollouts if the incoming harness, 256 examples, is the first iteration and 5 sessions follow",
			fmt.Sprintf("at most (%d a rollout)", tc.tokens),
			"disk                model not here: ",
			"memory              model not here: ",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the plan lacks %q:\n%s", tc.domain, want, out)
			}
		}
		var p struct {
			StepsAnEpoch float64 `json:"steps_an_epoch"`
			Phases       []struct {
				Kind                      string
				Steps, Sessions, Rollouts int
			}
			Counts    struct{ Train, Search, Validation, Test int }
			Countings []struct{ Sessions, Paper, Launcher int }
			Unread    string
			ModelAway string `json:"model_away"`
		}
		if err := json.Unmarshal([]byte(must(t, "plan", path, "--json")), &p); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%.0f", p.StepsAnEpoch); got != tc.stepsAnEpoch {
			t.Errorf("%s: got %s steps an epoch, want %s", tc.domain, got, tc.stepsAnEpoch)
		}
		if len(p.Countings) != 1 || p.Countings[0].Paper != 4608 || p.Countings[0].Launcher != 4096 || p.Counts.Test != tc.perTest || p.Unread == "" || p.ModelAway == "" {
			t.Errorf("%s: got %+v", tc.domain, p)
		}
		for i, ph := range p.Phases { // a phase of 0.6 epochs first; every harness phase is of one size
			want := struct{ kind, size, rollouts any }{"harness", 6, 256 + 4608}
			if i == 0 {
				want = struct{ kind, size, rollouts any }{"weight", tc.steps06, tc.steps06 * 256 * 8}
			} else if ph.Kind == "weight" {
				continue
			}
			if ph.Kind != want.kind || max(ph.Steps, ph.Sessions) != want.size || ph.Rollouts != want.rollouts {
				t.Errorf("%s: phase %d: got %+v, want %+v", tc.domain, i, ph, want)
			}
		}
	}
}

// A config of a policy that does not exist yet is refused by all that would run it, and says what exists.
func TestRunNeedsAPolicy(t *testing.T) {
	for _, args := range [][]string{
		{"run", "../../examples/math/paper.yaml", "--dir", t.TempDir() + "/run"},
		{"eval", "../../examples/chess/paper.yaml"},
		{"harness", "run", "../../examples/searchqa/h0-paper.star", "--config", "../../examples/searchqa/paper.yaml"},
	} {
		code, _, errOut := command(t, args...)
		if code != exitInput || !strings.Contains(errOut, "policy.kind: got tinker") || !strings.Contains(errOut, "this build has no tinker policy; it has local") {
			t.Errorf("%v: got %d, %s", args, code, errOut)
		}
	}
}
