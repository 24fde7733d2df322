package searchqa

import (
	"path/filepath"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/tasktest"
)

// testdata is the folder with real files.
func testdata(t *testing.T) string { t.Helper(); return tasktest.Data(t, 2) }

// Every row of the real files is read, and every reference in the tag is right.
func TestRealFiles(t *testing.T) {
	dir := testdata(t)
	for _, tc := range []struct {
		file, source string
		rows         int
		question     string // one of them, with its answers
		answers      string
	}{
		{"nq_test.parquet", "", 3610, "who got the first nobel prize in physics", "Wilhelm Conrad Röntgen"},
		{"hotpotqa_test.parquet", "", 7405, "Were Scott Derrickson and Ed Wood of the same nationality?", "yes"},
		{"bamboogle_test.parquet", "chiayewken/bamboogle", 125, "What rocket was the first spacecraft that ever approached Uranus launched on?", "Titan IIIE"},
		{"bamboogle_test.jsonl", "chiayewken/bamboogle", 125, "What rocket was the first spacecraft that ever approached Uranus launched on?", "Titan IIIE"},
	} {
		t.Run(tc.file, func(t *testing.T) {
			task := newTask(t, fromFiles(map[whale.Split][]FileOptions{whale.SplitTest: {{Path: filepath.Join(dir, tc.file)}}}), nil)
			list, err := task.Examples(whale.SplitTest)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range task.Notes() {
				t.Log(n)
			}
			if len(list) != tc.rows {
				t.Errorf("got %d questions, want %d", len(list), tc.rows)
			}
			found := false
			for _, x := range list {
				refs := references(x)
				if tc.source != "" && x.Meta[MetaSource] != tc.source {
					t.Fatalf("got the source %q, want %q", x.Meta[MetaSource], tc.source)
				}
				if strings.EqualFold(strings.TrimRight(x.View["question"], "?"), strings.TrimRight(tc.question, "?")) {
					found = true
					if got := strings.Join(refs, "|"); !strings.Contains(got, tc.answers) {
						t.Errorf("got the answers %q, want %q", got, tc.answers)
					}
				}
				for _, r := range refs {
					got, err := task.Verifier().Verify(t.Context(), x, episode("", nil, "<answer>"+r+"</answer>"))
					if err != nil || got.Reward != 1 {
						t.Fatalf("%q: the reference %q: got %+v, %v", x.View["question"], r, got, err)
					}
				}
			}
			if !found {
				t.Errorf("%q is not there: %q", tc.question, list[0].View["question"])
			}
		})
	}
}

// The mixture of the paper's search split, 200 of HotpotQA and 56 of NQ, and a test of 100 of each, from the files that there are.
func TestMixture(t *testing.T) {
	dir := testdata(t)
	hotpot, nq, bamboogle := filepath.Join(dir, "hotpotqa_test.parquet"), filepath.Join(dir, "nq_test.parquet"), filepath.Join(dir, "bamboogle_test.parquet")
	task := newTask(t, fromFiles(map[whale.Split][]FileOptions{
		whale.SplitTrain:  {{Path: hotpot, Count: 4000}, {Path: nq, Count: 1000}},
		whale.SplitSearch: {{Path: hotpot, Count: 200}, {Path: nq, Count: 56}},
		whale.SplitTest:   {{Path: hotpot, Count: 100}, {Path: nq, Count: 100}, {Path: bamboogle, Count: 100}},
	}), nil)
	seen := make(map[string]bool)
	for s, want := range map[whale.Split]map[string]int{
		whale.SplitTrain: {"hotpot": 4000, "nq": 1000}, whale.SplitSearch: {"hotpot": 200, "nq": 56}, whale.SplitTest: {"hotpot": 100, "nq": 100, "bamboogle": 100},
	} {
		list, err := task.Examples(s)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]int)
		for _, x := range list {
			if seen[x.ID] {
				t.Errorf("%s: %q is there twice", s, x.View["question"])
			}
			seen[x.ID] = true
			for name := range want {
				if strings.Contains(strings.ToLower(x.Meta[MetaSource]), name) {
					got[name]++
				}
			}
		}
		for name, n := range want {
			if got[name] != n {
				t.Errorf("%s: got %d of %s, want %d", s, got[name], name, n)
			}
		}
	}
}
