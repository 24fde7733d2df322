package rsft

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/modelupdate/updatetest"
)

func build(tr whale.Trainer, examples []whale.Example) modelupdate.ModelUpdate {
	return &Update{Config: updatetest.Config, Accept: 0.5, Trainer: tr, Examples: examples, RunSeed: updatetest.RunSeed}
}

func TestUpdate(t *testing.T) { updatetest.TestUpdate(t, build) }

func TestLearns(t *testing.T) {
	updatetest.TestLearns(t, func(c modelupdate.Config, tr whale.Trainer, examples []whale.Example) modelupdate.ModelUpdate {
		return &Update{Config: c, Accept: 0.5, Trainer: tr, Examples: examples, RunSeed: updatetest.RunSeed}
	})
}

// TestStepTrainsOnAcceptedRolloutsAlone: what is learned is the likelihood of rewarded rollouts.
func TestStepTrainsOnAcceptedRolloutsAlone(t *testing.T) {
	tr := &updatetest.Trainer{}
	res, err := build(tr, updatetest.Examples(6, "1")).Step(t.Context(), updatetest.Runner(), updatetest.Harness{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := int(res.Reward*12 + 0.5); res.Accepted != got || got == 0 || got == 12 {
		t.Fatalf("got %+v, want the %d rewarded rollouts accepted", res, got)
	}
	for i, batch := range tr.Batches {
		for _, s := range batch {
			if s.Tokens[2] != 1 {
				t.Errorf("trained on %v, which had no reward", s.Tokens)
			}
		}
		if tr.Losses[i] != (whale.Loss{}) {
			t.Errorf("loss: got %+v, want cross-entropy", tr.Losses[i])
		}
	}
}

// TestResultHasNoPolicy: the journal of RSFT has the keys that it always had.
func TestResultHasNoPolicy(t *testing.T) {
	res, err := build(&updatetest.Trainer{}, updatetest.Examples(6, "1")).Step(t.Context(), updatetest.Runner(), updatetest.Harness{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"step":0,"rollouts":12,"accepted":`; !strings.HasPrefix(string(got), want) || strings.Contains(string(got), "policy") {
		t.Errorf("got %s", got)
	}
}

func TestValidate(t *testing.T) {
	good := Update{Config: updatetest.Config, Accept: 0.5}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Update){
		"weight.batch":  func(u *Update) { u.Config.Batch = 0 },
		"weight.accept": func(u *Update) { u.Accept = 1 },
	} {
		u := good
		spoil(&u)
		if err := u.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
