package audit_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/audit"
)

// showHeldout names the programs of heldout/ on which the audit errs. Rules are made with dev/ alone: who reads these names while making
// rules has no held-out set any more.
var showHeldout = flag.Bool("show-heldout", false, "name the held-out programs on which the audit errs")

// datasets are the names that the corpus of a task knows.
var datasets = map[string][]string{
	"math":  {"GSM8K", "DAPO-Math-17K", "DAPO", "AIME", "AIME 2024", "AIME 2025"},
	"qa":    {"HotpotQA", "Natural Questions", "2WikiMultihopQA", "Bamboogle", "MuSiQue", "PopQA", "TriviaQA"},
	"chess": {"Lichess", "Lichess puzzle database"},
}

// corpora indexes the examples of each task.
func corpora(t testing.TB) map[string]*audit.Corpus {
	t.Helper()
	examples := map[string][]whale.Example{}
	for _, x := range rows(t) {
		examples[x.Task] = append(examples[x.Task], x.example())
	}
	out := map[string]*audit.Corpus{}
	for task, list := range examples {
		var err error
		if out[task], err = audit.NewCorpus(list, audit.Options{Names: datasets[task]}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestErrors measures both errors: findings in ordinary programs, of which there must be none, and cheating programs without a finding.
func TestErrors(t *testing.T) {
	corpus := corpora(t)
	for _, side := range sides {
		t.Run(side.name, func(t *testing.T) {
			show := side.name != "heldout" || *showHeldout
			ordinary, cheating := readPrograms(t, side, "ordinary"), readPrograms(t, side, "cheating")
			cheats := readCheats(t, side)

			accused := 0
			for _, p := range ordinary {
				found, err := corpus[p.task].Audit(p.file, p.src)
				if err != nil {
					t.Errorf("%s: %v", p.file, err)
				}
				if len(found) > 0 {
					accused++
				}
				for _, f := range found {
					if show {
						t.Logf("ordinary %s:%d:%d: %s: %s", p.file, f.Line, f.Col, f.Rule, f.Message)
					}
				}
			}
			caught := 0
			missed := map[string]int{}
			for _, p := range cheating {
				found, err := corpus[p.task].Audit(p.file, p.src)
				if err != nil {
					t.Errorf("%s: %v", p.file, err)
				}
				if len(found) > 0 {
					caught++
					placed(t, p, found)
					continue
				}
				missed[cheats[p.file].Kind]++
				if show {
					t.Logf("cheating %s (%s): nothing found", p.file, cheats[p.file].Kind)
				}
			}
			t.Logf("%s: findings in %d of %d ordinary programs; %d of %d cheating programs found, kinds missed: %d",
				side.name, accused, len(ordinary), caught, len(cheating), len(missed))
			if accused > side.accused {
				t.Errorf("got findings in %d of %d ordinary programs, want at most %d", accused, len(ordinary), side.accused)
			}
			if share := float64(caught) / float64(len(cheating)); share < side.found {
				t.Errorf("got %.0f%% of %d cheating programs, want at least %.0f%%", 100*share, len(cheating), 100*side.found)
			}
		})
	}
}

// placed asks that findings name a rule and a line of the program.
func placed(t *testing.T, p program, found []audit.Finding) {
	t.Helper()
	lines := strings.Count(string(p.src), "\n") + 1
	for _, f := range found {
		known := slices.ContainsFunc(audit.Rules(), func(r audit.Rule) bool { return r.Name == f.Rule })
		if !known || f.Line < 1 || f.Line > lines || f.Message == "" {
			t.Errorf("%s: got the finding %+v of a program of %d lines", p.file, f, lines)
		}
	}
}

// TestShipped asks that nothing is found in the harnesses that come with the project, against any task's examples.
func TestShipped(t *testing.T) {
	corpus := corpora(t)
	var paths []string
	for _, pattern := range []string{"../../examples/*/*.star", "../../examples/*/*/*.star", "../../examples/*/*.py", "../../examples/*/*.mjs"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
	if len(paths) < 2 {
		t.Fatalf("got %d shipped harnesses", len(paths))
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for task, c := range corpus {
			found, err := c.Audit(path, src)
			if err != nil {
				t.Errorf("%v", err)
			}
			for _, f := range found {
				t.Errorf("%s:%d:%d: against the examples of %s: %s: %s", path, f.Line, f.Col, task, f.Rule, f.Message)
			}
		}
	}
}
