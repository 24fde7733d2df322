package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport makes two small runs, of two methods, and reports them, one alone and both together.
func TestReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := writeTest(t, dir)
	whole, weight := filepath.Join(dir, "whole"), filepath.Join(dir, "weight")
	must(t, "run", config, "--dir", whole)
	must(t, "run", config, "--dir", weight, "--method", "weight-only")
	before := fingerprint(t, whole)

	out := must(t, "report", whole)
	for _, want := range []string{"1 run\n", "mean@2 over 4 examples", "base (θ0,h0)", "1 (examples alone)", "(θK,hK), final", "whale has one finished seed", "report  " + filepath.Join(whole, "report", "report.html")} {
		if !strings.Contains(out, want) {
			t.Errorf("one run: the tables lack %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "Differences to") {
		t.Errorf("one run has a comparison:\n%s", out)
	}
	if d := differ(fingerprint(t, whole), before); len(d) > 0 {
		t.Errorf("the report changed the run: %s", d)
	}
	must(t, "resume", whole) // with a report inside, the run is still one

	both := filepath.Join(dir, "both")
	out = must(t, "report", whole, weight, "--out", both)
	for _, want := range []string{"2 runs\n", "Differences to whale", "whale − weight-only"} {
		if !strings.Contains(out, want) {
			t.Errorf("two runs: the tables lack %q:\n%s", want, out)
		}
	}
	for _, name := range []string{"report.html", "report.json", "report.txt", "accuracy.csv", "steps.csv", "search.csv", "plots/final.svg", "plots/phases.png"} {
		if info, err := os.Stat(filepath.Join(both, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: got %v, %v, want a file", name, info, err)
		}
	}

	r := jsonLines(t, must(t, "report", whole, weight, "--out", both, "--json"))
	if len(r) != 1 || r[0]["kind"] != "report" || r[0]["out"] != both {
		t.Fatalf("got %d JSON values, want the report", len(r))
	}
	group := r[0]["groups"].([]any)[0].(map[string]any)
	if runs := group["runs"].([]any); len(runs) != 2 || len(group["differences"].([]any)) == 0 {
		t.Errorf("got %d runs in the JSON form, want 2 and their differences", len(runs))
	}
	row := group["table"].([]any)[1].(map[string]any)
	for _, k := range []string{"arm", "kind", "draws", "mean", "low", "high", "examples", "seeds"} {
		if _, ok := row[k]; !ok {
			t.Errorf("a row of the JSON form lacks %q: %v", k, row)
		}
	}
}

func TestReportRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	linked := filepath.Join(dir, "linked")
	if err := os.Mkdir(linked, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(linked, "report")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no run", []string{"report"}, exitUsage, "report: got 0 arguments; usage: whale report RUN|COMPARISON..."},
		{"a folder that is no run", []string{"report", dir}, exitRunDir, "config.yaml"},
		{"a link to elsewhere", []string{"report", linked}, exitUsage, "report is a link: name a folder with --out"},
		{"nothing there", []string{"report", filepath.Join(dir, "none")}, exitRunDir, "does not exist"},
	} {
		code, stdout, stderr := command(t, tc.args...)
		if code != tc.code || stdout != "" || !strings.Contains(stderr, tc.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: got exit code %d, %q and %q, want %d and %q", tc.name, code, stdout, stderr, tc.code, tc.want)
		}
	}
}
