package recipe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/store"
)

// A journal is outside input: whatever events one holds besides, its story is told or refused with an error, and never ends the process.
func TestHostileStories(t *testing.T) {
	t.Parallel()
	good := finishedRun(t)
	s := good.open(t)
	events, err := s.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lateOp string
	for _, e := range events {
		if e.Kind == metaharness.KindSession && lateOp == "" {
			lateOp = e.Op + "/candidate-0" // of the first harness phase, which has ended
		}
	}
	for _, tc := range []struct{ name, kind, op, data, want string }{
		{"a huge phase", kindPhase, "x", `{"phase":{"index":999999999,"kind":"weight"}}`, "run directory was changed"},
		{"a negative phase", kindPhase, "x", `{"phase":{"index":-5,"kind":"weight"}}`, "run directory was changed"},
		{"a phase of no kind", kindPhase, "x", `{"phase":{"index":4,"kind":"other"}}`, "run directory was changed"},
		{"a late decision", metaharness.KindDecision, lateOp + " ", `{"status":"evaluated"}`, ""},
		{"a decision of nothing", metaharness.KindDecision, "../../etc/passwd", `{"status":"rejected","gate":"\u001b[2J"}`, ""},
		{"negative draws", kindFinal, "x", `{"pairs":[{"name":"(θ0,h0)","draws":-1,"examples":4}]}`, "run directory was changed"},
		{"too many draws", kindFinal, "x", `{"pairs":[{"name":"(θ0,h0)","draws":1000000000,"examples":4}]}`, "run directory was changed"},
		{"sessions that cannot be unspent", kindFinal, "x", `{"unspent":-9223372036854775808}`, "run directory was changed"},
		{"a runner-up of another phase", metaharness.KindDecision, "0-harness/w/runner-up/x", `{"status":"evaluated"}`, "run directory was changed"},
		{"a runner-up of no phase", metaharness.KindDecision, "/runner-up/", `{}`, "run directory was changed"},
		{"another begin", kindBegin, "x", `{"rule":{"window":-5}}`, ""},
		{"a matrix without cells", kindMatrix, "x", `{"split":"test","draws":1,"weights":[{"name":"θ0"}],"harness":[{"name":"h0"}]}`, ""},
		{"a step of no phase", kindStep, "x", `{"step":-7,"rollouts":-1}`, ""},
		{"a list", kindCurve, "x", `[]`, "cannot unmarshal"},
		{"a kind of its own", "whatever", "x", `{}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(dir, os.DirFS(good.run)); err != nil {
				t.Fatal(err)
			}
			w, err := store.Open(dir, store.Options{Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Append(t.Context(), tc.kind, tc.op, json.RawMessage(tc.data)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			story, err := ReadStory(t.Context(), dir)
			switch {
			case tc.want == "" && err != nil, tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want an error with %q", err, tc.want)
			case err == nil:
				story.Explain()
			}
		})
	}
}

// A comparison of runs that began with different things is none: what the config names may have changed since the first of them began.
func TestComparisonOfOneStart(t *testing.T) {
	t.Parallel()
	c := methodConfig(t, t.TempDir(), MethodWhale)
	cmp := Comparison{Dir: filepath.Join(t.TempDir(), "cmp"), Config: c, Methods: []string{MethodWeightOnly}, Seeds: 1, Lanes: 1, Options: testOptions(nil)}
	if err := cmp.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cmp.Run(t.Context()); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	var told []string
	other := cmp
	other.Options.Build, other.Observe = "another", func(_ Arm, e Event) { told = append(told, e.Text) }
	if err := other.Run(t.Context()); err != nil || len(told) != 1 || !strings.Contains(told[0], "another build") {
		t.Errorf("finished runs of another build: got %q, %v, want to be told once", told, err)
	}
	summary := filepath.Join(cmp.Arms()[0].Dir, "report", "summary.json") // what a run that is killed right at its end has not written
	if err := os.Remove(summary); err != nil {
		t.Fatal(err)
	}
	if err := cmp.Run(t.Context()); err != nil {
		t.Errorf("killed before its summary: %v", err)
	}
	if _, err := os.Stat(summary); err != nil {
		t.Errorf("killed before its summary, and run again: %v", err)
	}
	if err := os.WriteFile(c.Harness, []byte(strings.Replace(testHarness, "TURNS = 3", "TURNS = 2", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmp.Methods = append(cmp.Methods, MethodHarnessOnly)
	if err := cmp.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "first harness changed") {
		t.Errorf("another h_0: got %v, want it refused", err)
	}
	cmp.Config.Seed, cmp.Seeds = 1<<64-2, 3
	cmp.Dir = filepath.Join(t.TempDir(), "other")
	if err := cmp.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "seed: got") {
		t.Errorf("seeds beyond the last: got %v, want them refused", err)
	}
}

// A phase that is under way stands where the one before it ended.
func TestStoryUnderWay(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	second := 0
	dir := stopAt(t, c, func(e Event) bool {
		if e.Kind == EventPhase && e.Phase.Kind == PhaseWeight && e.Phase.Cycle == 1 {
			second = e.Phase.From
		}
		return second > 0 && e.Kind == EventStep
	})
	story, err := ReadStory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ph := story.Phases[len(story.Phases)-1]
	if ph.Done || ph.Kind != PhaseWeight || ph.Cycle != 1 || ph.From != second || ph.First != story.Phases[1].Sessions {
		t.Errorf("got %+v, want a weight phase under way in cycle 1, after %d steps and %d sessions", ph.PlannedPhase, second, story.Phases[1].Sessions)
	}
}
