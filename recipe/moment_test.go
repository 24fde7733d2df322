package recipe

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

// TestMoments: a run's moments are named in order, and each has the pair that the journal has of it.
func TestMoments(t *testing.T) {
	st, err := ReadStory(t.Context(), finishedRun(t).run)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	at := map[string]Moment{}
	for _, m := range st.Moments() {
		names = append(names, m.Name)
		at[m.Name] = m
		prog, err := st.Program(m)
		if err != nil || whale.HarnessID(prog.Source) != m.Harness || prog.Name != string(m.Harness)+".star" {
			t.Errorf("%s: got the program %s, %v, want %s", m.Name, prog.Name, err, m.Harness)
		}
	}
	want := []string{"start", "step-000000", "step-000001", "0-weight", "1-harness", "cycle0", "step-000002", "step-000003", "2-weight", "3-harness", "cycle1", "final"}
	if !reflect.DeepEqual(names, want) {
		t.Fatalf("got moments %v, want %v", names, want)
	}
	for _, p := range st.Final {
		weights, harness := "start", "start"
		switch p.Name {
		case PairWeights:
			weights = "final"
		case PairHarness:
			harness = "final"
		case PairFinal:
			weights, harness = "final", "final"
		case PairStart:
		default:
			continue
		}
		if at[weights].Weights != p.Weights || at[harness].Harness != p.Harness {
			t.Errorf("%s: got weights %s and harness %s, the table has %s and %s", p.Name, at[weights].Weights, at[harness].Harness, p.Weights, p.Harness)
		}
	}
	for _, c := range st.Curve {
		if m := at[c.At]; m.Weights != c.Weights || m.Harness != c.Harness || m.Steps != c.Steps {
			t.Errorf("%s: got %+v, the curve has weights %s and harness %s after %d steps", c.At, m, c.Weights, c.Harness, c.Steps)
		}
	}
	for _, name := range []string{"start", "0-weight", "cycle0", "final"} {
		if b, err := st.Model(at[name]); err != nil || b.Weights().ID != at[name].Weights {
			t.Errorf("%s: got %v, %v", name, b, err)
		}
	}
	var input *InputError
	if _, err := st.Moment("cycle2"); !errors.As(err, &input) || !strings.Contains(err.Error(), "there are start, 0-weight, 1-harness, cycle0, 2-weight, 3-harness, cycle1, final, step-000000 to step-000003") {
		t.Errorf("a moment that is none: got %v", err)
	}
}

// TestMomentsInsideOfPhases: curve points inside of a long phase are moments with the harness that was best there.
func TestMomentsInsideOfPhases(t *testing.T) {
	one, two := whale.HarnessID([]byte("one")), whale.HarnessID([]byte("two"))
	st := &Story{
		Begin: Begin{Weights: "w", Harness: one, Source: "one"},
		Phases: []PhaseStory{{
			PlannedPhase: PlannedPhase{Kind: PhaseHarness, Sessions: 4}, Done: true, Weights: "w", Harness: one, Source: "one",
		}},
		Curve: []CurvePoint{{point: point{At: "start", Phase: -1}}, {point: point{At: "0-harness/2", Sessions: 2}, Weights: "w", Harness: two, Source: "two"}, {point: point{At: "0-harness"}}},
	}
	m, err := st.Moment("0-harness/2")
	if err != nil || m.Harness != two {
		t.Fatalf("got %+v, %v", m, err)
	}
	if prog, err := st.Program(m); err != nil || string(prog.Source) != "two" {
		t.Errorf("got %q, %v", prog.Source, err)
	}
	if list := st.Moments(); len(list) != 4 || list[3].Name != MomentLatest { // start, inside, the phase, latest: the run is not finished
		t.Errorf("got moments %+v", list)
	}
}

// TestLatestMoment: what a run has come to is its latest moment, and its final one only once it is finished.
func TestLatestMoment(t *testing.T) {
	st, err := ReadStory(t.Context(), finishedRun(t).run)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", MomentLatest, MomentFinal} {
		if m, err := st.Moment(name); err != nil || m.Name != MomentFinal {
			t.Errorf("%q of a finished run: got %+v, %v, want its final moment", name, m, err)
		}
	}
	st.Final = nil
	for _, name := range []string{"", MomentLatest} {
		if m, err := st.Moment(name); err != nil || m.Name != MomentLatest || m.Steps != 4 {
			t.Errorf("%q of an unfinished run: got %+v, %v, want its latest moment", name, m, err)
		}
	}
	var input *InputError
	if _, err := st.Moment(MomentFinal); !errors.As(err, &input) || !strings.Contains(err.Error(), `the run is not finished, and has no moment "final" yet; what it has come to is its moment "latest"`) {
		t.Errorf("the final moment of an unfinished run: got %v", err)
	}
	if _, err := st.Moment("cycle7"); err == nil || !strings.Contains(err.Error(), "3-harness, latest, step-") || strings.Contains(err.Error(), "final") {
		t.Errorf("the moments of an unfinished run: got %v", err)
	}
}

// TestMissingSnapshots: weights that a run does not keep are told from those that it keeps, and that somebody removed or spoilt.
func TestMissingSnapshots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(finishedRun(t).run)); err != nil {
		t.Fatal(err)
	}
	at := func(step string) string { return filepath.Join(dir, "weights", step) }
	if err := os.RemoveAll(at("step-000001")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(at("step-000003"), "tokenizer.json")); err != nil {
		t.Fatal(err)
	}
	st, err := ReadStory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for moment, want := range map[string][]string{
		"step-000000": {"the weights of step-000000 are not kept (phase ends, the best and the last steps are); those of start, step-000002 are"},
		"0-weight":    {"the weights of 0-weight belong in " + at("step-000001") + ", and this folder is missing; whole are those of start, step-000002; whale resume " + dir},
		"1-harness":   {"the weights of 1-harness belong in " + at("step-000001") + ", and this folder is missing"},
		"final":       {"the weights of final are not whole in " + at("step-000003"), "corrupt", "whole are those of start, step-000002; whale resume " + dir},
	} {
		m, err := st.Moment(moment)
		if err != nil {
			t.Fatal(err)
		}
		_, err = st.ModelPath(m)
		var input *InputError
		if !errors.As(err, &input) {
			t.Errorf("%s: got %v, want an input error", moment, err)
			continue
		}
		mustContain(t, moment, err.Error(), want...)
		if moment != "step-000000" && strings.Contains(err.Error(), "are not kept") {
			t.Errorf("%s: got %v, and the run keeps it", moment, err)
		}
	}
}

func TestProgramByID(t *testing.T) {
	st, err := ReadStory(t.Context(), finishedRun(t).run)
	if err != nil {
		t.Fatal(err)
	}
	first := string(st.Begin.Harness)
	for _, prefix := range []string{first, first[:8], first + ".star"} {
		if prog, err := st.ProgramByID(prefix); err != nil || string(prog.Source) != testHarness {
			t.Errorf("%s: got %v", prefix, err)
		}
	}
	copied := *st
	copied.Dir = t.TempDir()
	dir := filepath.Join(copied.Dir, "harness")
	for name, text := range map[string]string{"abcd1234.star": "x = 1\n", "abcd5678.star": "x = 2\n", "feed0000.star": "x = 3\n"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]string{
		"abcd": `got 2 harnesses whose id begins with "abcd"`, "feed": "it is not the program that its name says", "": "got 0 harnesses", "fee": "by 4 characters of it or more", "../x": "got 0 harnesses",
	} {
		var input *InputError
		if _, err := copied.ProgramByID(prefix); !errors.As(err, &input) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", prefix, err, want)
		}
	}
}
