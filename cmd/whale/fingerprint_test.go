package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/store"
)

// fingerprint is everything of a run directory that must not depend on when the run was killed, how fast the machine is or where the
// directory lies: sections of lines.
func fingerprint(t testing.TB, dir string) map[string][]string {
	t.Helper()
	s, err := store.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := map[string][]string{
		"summary": {summaryOf(t, dir)}, "events": eventsOf(t, s), "rollouts": rolloutsOf(t, s), "ledger": ledgerOf(t, s),
	}
	for _, sub := range []string{"archive", "sessions", "harness", "weights"} {
		p[sub] = filesOf(t, dir, sub)
	}
	return p
}

// differ names the sections in which two runs differ, with the first line that does.
func differ(got, want map[string][]string) []string {
	var out []string
	for name, w := range want {
		g := got[name]
		for i := range max(len(g), len(w)) {
			switch {
			case i >= len(g):
				out = append(out, fmt.Sprintf("%s: lacks %.400s", name, w[i]))
			case i >= len(w):
				out = append(out, fmt.Sprintf("%s: has besides %.400s", name, g[i]))
			case g[i] != w[i]:
				out = append(out, fmt.Sprintf("%s: got %.400s, want %.400s", name, g[i], w[i]))
			default:
				continue
			}
			break
		}
	}
	sort.Strings(out)
	return out
}

func summaryOf(t testing.TB, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "report", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	for _, counters := range s["ledger"].(map[string]any) {
		delete(counters.(map[string]any), "seconds")
	}
	out, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(out), s["dir"].(string), "DIR") // where it lay when it ended
}

// eventsOf lists the decisions in order: without the openings of the run and the attempts at sessions, which count the kills.
func eventsOf(t testing.TB, s *store.Run) []string {
	t.Helper()
	events, err := s.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		data := e.Data
		switch e.Kind {
		case "run/open", metaharness.KindSessionStart:
			continue
		case "run/begin": // but for the config, which says how many work at once and where files lie
			var begin map[string]any
			if err := json.Unmarshal(data, &begin); err != nil {
				t.Fatal(err)
			}
			if begin["config"] == nil {
				t.Fatalf("run/begin without its config: %s", data)
			}
			delete(begin, "config")
			if data, err = json.Marshal(begin); err != nil {
				t.Fatal(err)
			}
		case metaharness.KindSession:
			var rec metaharness.SessionRecord
			if err := json.Unmarshal(data, &rec); err != nil {
				t.Fatal(err)
			}
			rec.Attempts, rec.Cost.Seconds = 0, 0
			if data, err = json.Marshal(rec); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, fmt.Sprintf("%s %s %s", e.Kind, e.Op, data))
	}
	return out
}

func rolloutsOf(t testing.TB, s *store.Run) []string {
	t.Helper()
	var out []string
	for row, err := range s.Rollouts(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := s.Trajectory(t.Context(), row.Key)
		if err != nil {
			t.Fatal(err)
		}
		row.Seq, row.At = 0, time.Time{}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s", text, line))
	}
	sort.Strings(out) // rollouts of one batch end in any order
	return out
}

func ledgerOf(t testing.TB, s *store.Run) []string {
	t.Helper()
	ledger, err := s.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for purpose, counters := range ledger {
		for name, amount := range counters {
			if name != "seconds" {
				out = append(out, fmt.Sprintf("%s %s %g", purpose, name, amount))
			}
		}
	}
	sort.Strings(out)
	return out
}

// filesOf lists the files below a folder with their hashes.
func filesOf(t testing.TB, dir, sub string) []string {
	t.Helper()
	var out []string
	for _, path := range filesBelow(t, filepath.Join(dir, sub)) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %x", strings.TrimPrefix(path, dir), sha256.Sum256(data)))
	}
	return out
}

func filesBelow(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
