package recipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// grpoConfig is testConfig's run with policy gradients that are held to each phase's start. Several minibatches and passes make ratios leave 1.
func grpoConfig(t *testing.T) Config {
	c := testConfig(t, t.TempDir())
	c.Weight.Kind, c.Weight.GRPO.KL, c.Weight.Passes = WeightGRPO, 0.05, 2
	c.Weight.Group, c.Weight.Minibatch = 4, 4
	c.Schedule.Sessions = 0
	c.Evaluation.Curve, c.Evaluation.Draws = false, 1
	return c
}

// TestGRPO kills runs whose weight phases are policy gradients, at the seams of a step and between steps of each phase: they come to the same.
func TestGRPO(t *testing.T) {
	t.Parallel()
	c := grpoConfig(t)
	var steps []Event
	r, err := Start(t.Context(), c, filepath.Join(t.TempDir(), "run"), testOptions(func(e Event) {
		if e.Kind == EventStep {
			steps = append(steps, e)
		}
	}))
	want := execute(t, r, err)
	learned, diverged := 0, 0
	for _, e := range steps {
		p := e.Step.Policy
		if p.Informative+p.Equal != c.Weight.Batch {
			t.Errorf("step %d: got %d groups, want %d", e.Step.Step, p.Informative+p.Equal, c.Weight.Batch)
		}
		if e.Step.Updates > 0 && (p.MeanRatio <= 0 || p.MeanRatio == 1) {
			t.Errorf("step %d: got a mean ratio of %g, want one that left 1", e.Step.Step, p.MeanRatio)
		}
		if e.Step.Updates > 0 {
			learned++
		}
		if p.KL > 0 {
			diverged++
		}
	}
	if len(steps) != 4 || learned < 3 || diverged < 3 {
		t.Fatalf("got %d steps, %d with updates, %d with a divergence: the test shows nothing", len(steps), learned, diverged)
	}
	for name, dir := range map[string]string{
		"between the steps of the second phase": stopAt(t, c, atStep(2)),
		"inside of a step":                      crashed(t, c, "step", 3),
		"recorded, no snapshot":                 crashed(t, c, "snapshot", 2),
	} {
		got, _ := resume(t, dir)
		same(t, got, want)
		if t.Failed() {
			t.Fatalf("killed %s: the run came out otherwise", name)
		}
	}
}

// TestGRPONeedsThePhasesStart: the weights that a phase began with are gone, and later ones are there.
func TestGRPONeedsThePhasesStart(t *testing.T) {
	t.Parallel()
	dir := stopAt(t, grpoConfig(t), atStep(2))
	start := filepath.Join(dir, "weights", snapshotID(1))
	if err := os.RemoveAll(start); err != nil {
		t.Fatal(err)
	}
	r, err := Resume(t.Context(), dir, nil, testOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Execute(t.Context()); err == nil || !strings.Contains(err.Error(), "step-000001, of which there is no whole snapshot") {
		t.Errorf("got %v, want an error that names what is missing", err)
	}
}
