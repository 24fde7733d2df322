package metaharness_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// variants are the candidates of one session: good ones, a broken one twice, one that repeats another of its session, one that repeats
// what the search started from, and one whose episodes infrastructure spoils, twice.
func variants() []struct{ name, source string } {
	turns := func(n int) string { return strings.Replace(startProgram, "TURNS = 2", fmt.Sprintf("TURNS = %d", n), 1) }
	broken := strings.Replace(startProgram, "def run(task, model, env):\n", "def run(task, model, env):\n    fail(\"on purpose\")\n", 1)
	return []struct{ name, source string }{
		{"a", turns(3)}, {"b-again", turns(3)}, {"c-start", startProgram}, {"d-broken", broken}, {"e-broken", broken}, {"f", turns(4)},
		{"g-lost", turns(7)}, {"h-lost", turns(7)}, {"i-again", turns(3)}, {"j-parse", "def run("}, {"k", turns(5)}, {"l-again", turns(4)},
	}
}

// session proposes the variants in session 0, and one more in session 1.
func session(t testing.TB) scripted {
	return scripted{func(s whale.Session) (whale.SessionCost, error) {
		if s.Index == 0 {
			for _, v := range variants() {
				put(t, s, v.name, v.source)
			}
		} else {
			put(t, s, "again", variants()[0].source)
			put(t, s, "better", strings.Replace(startProgram, "TURNS = 2", "TURNS = 6", 1))
		}
		return whale.SessionCost{}, nil
	}}
}

func spoilt(h whale.Harness, _ whale.Purpose, i int) bool {
	return i == 1 && strings.Contains(string(h.Source()), "TURNS = 7")
}

// searched is all that a search leaves behind.
type searched struct {
	decisions string
	journal   map[string]string
	files     map[string]string
	events    string
	runs      int
}

func searchAtOnce(t *testing.T, atOnce int, change func(w *world)) searched {
	t.Helper()
	w, log, dir := newWorld(6), newLog(), t.TempDir()
	w.spoil = spoilt
	if change != nil {
		change(w)
	}
	s := search(metaharness.Config{Sessions: 2, Candidates: len(variants()), CanaryEpisodes: 2, AtOnce: atOnce}, session(t), w, log)
	var events strings.Builder
	s.Deps.Observer = func(e metaharness.Event) {
		fmt.Fprintf(&events, "%s %d %s %s %s %s\n", e.Kind, e.Session, e.Name, e.ID, e.Status, e.Text)
	}
	res, err := s.Run(context.Background(), phaseIn(t, dir, 3))
	if err != nil {
		t.Fatal(err)
	}
	return searched{decisions(res), log.entries, filesBelow(t, dir), events.String(), w.runs}
}

func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestAtOnceDecidesTheSame judges candidates one by one and side by side: journal, events, every file that a proposer sees and the
// episodes that were spent are the same.
func TestAtOnceDecidesTheSame(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	want := searchAtOnce(t, 1, nil)
	for status, n := range map[string]int{" evaluated ": 4, " rejected ": 8, " incomplete ": 2} {
		got := 0
		for line := range strings.Lines(want.events) {
			if strings.HasPrefix(line, "candidate ") && strings.Contains(line, status) {
				got++
			}
		}
		if got != n {
			t.Fatalf("the reference decided %d as%s, want %d:\n%s", got, status, n, want.events)
		}
	}
	// The slower a candidate is the earlier it stands, so that side by side they end in the opposite order.
	late := func(w *world) {
		w.watch = func(h whale.Harness, _ whale.Purpose) func() {
			for i, v := range variants() {
				if v.source == string(h.Source()) {
					time.Sleep(time.Duration(len(variants())-i) * time.Millisecond)
				}
			}
			return func() {}
		}
	}
	for _, atOnce := range []int{2, 3, 50} {
		got := searchAtOnce(t, atOnce, late)
		if got.decisions != want.decisions || got.events != want.events {
			t.Errorf("%d at once: other decisions or events\ngot\n%s%s\nwant\n%s%s", atOnce, got.decisions, got.events, want.decisions, want.events)
		}
		if got.runs != want.runs {
			t.Errorf("%d at once: got %d episodes, want %d", atOnce, got.runs, want.runs)
		}
		if !maps.Equal(got.journal, want.journal) {
			t.Errorf("%d at once: another journal", atOnce)
		}
		for _, name := range slices.Sorted(maps.Keys(want.files)) {
			if got.files[name] != want.files[name] {
				t.Errorf("%d at once: %s differs:\n%s\nwant\n%s", atOnce, name, got.files[name], want.files[name])
			}
		}
		if len(got.files) != len(want.files) {
			t.Errorf("%d at once: got %d files, want %d", atOnce, len(got.files), len(want.files))
		}
	}
}

// TestAtOnceIsABound counts evaluations that are under way together: each waits until as many are as may be.
func TestAtOnceIsABound(t *testing.T) {
	const atOnce = 3
	w := newWorld(6)
	var mu sync.Mutex
	running, most := 0, 0
	full := make(chan struct{})
	w.watch = func(h whale.Harness, _ whale.Purpose) func() {
		if string(h.Source()) == startProgram {
			return func() {}
		}
		mu.Lock()
		if running++; running == atOnce && most < atOnce {
			close(full)
		}
		most = max(most, running)
		mu.Unlock()
		select {
		case <-full:
		case <-time.After(10 * time.Second):
		}
		time.Sleep(time.Millisecond) // a further one would come in meanwhile
		return func() { mu.Lock(); running--; mu.Unlock() }
	}
	p := scripted{func(s whale.Session) (whale.SessionCost, error) {
		for n := range 9 {
			put(t, s, fmt.Sprint("n", n), strings.Replace(startProgram, "TURNS = 2", fmt.Sprintf("TURNS = %d", 3+n), 1))
		}
		return whale.SessionCost{}, nil
	}}
	res, err := search(metaharness.Config{Sessions: 1, Candidates: 9, CanaryEpisodes: 2, AtOnce: atOnce}, p, w, newLog()).Run(context.Background(), phaseIn(t, t.TempDir(), 3))
	if err != nil || res.Evaluated != 9 {
		t.Fatalf("got %d evaluated, %v; want 9", res.Evaluated, err)
	}
	if most != atOnce {
		t.Errorf("got %d evaluations at once, want %d", most, atOnce)
	}
}

// TestAtOnceResumes kills a search that judges side by side before and after each journal entry and evaluation, and runs it again.
func TestAtOnceResumes(t *testing.T) {
	want := searchAtOnce(t, 1, nil)
	killed := 0
	for at := 1; ; at += 8 {
		w, log, dir := newWorld(6), newLog(), t.TempDir()
		w.spoil = spoilt
		s := search(metaharness.Config{Sessions: 2, Candidates: len(variants()), CanaryEpisodes: 2, AtOnce: 4}, session(t), w, log)
		k := &killer{at: at}
		w.fault, log.fault = k.fault, k.fault
		if _, err := s.Run(context.Background(), phaseIn(t, dir, 3)); err == nil {
			break
		} else if !errors.Is(err, errKilled) {
			t.Fatalf("killed at %d: got %v", at, err)
		}
		killed++
		w.fault, log.fault = nil, nil
		res, err := s.Run(context.Background(), phaseIn(t, dir, 3))
		if err != nil {
			t.Fatalf("killed at %d, run again: %v", at, err)
		}
		if got := decisions(res); got != want.decisions {
			t.Fatalf("killed at %d, run again: other decisions\ngot\n%s\nwant\n%s", at, got, want.decisions)
		}
		files := filesBelow(t, dir)
		for name, data := range want.files {
			if files[name] != data {
				t.Fatalf("killed at %d, run again: %s differs", at, name)
			}
		}
	}
	if killed < 5 {
		t.Errorf("only %d places to be killed at", killed)
	}
}

// TestAtOnceEndsWithItsContext: whatever is being judged when the phase is stopped is stopped too, and waited for.
func TestAtOnceEndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(context.Background())
	w := newWorld(6)
	var once sync.Once
	s := search(metaharness.Config{Sessions: 1, Candidates: len(variants()), CanaryEpisodes: 2, AtOnce: 4}, session(t), w, newLog())
	s.Deps.Evaluator = stuck{w, func() { once.Do(cancel) }}
	if _, err := s.Run(ctx, phaseIn(t, t.TempDir(), 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// stuck evaluates what the search starts from, and waits for ever with the others.
type stuck struct {
	*world
	begun func()
}

func (s stuck) Evaluate(ctx context.Context, h whale.Harness, ask metaharness.Ask) ([]whale.Rollout, error) {
	if string(h.Source()) == startProgram {
		return s.world.Evaluate(ctx, h, ask)
	}
	s.begun()
	<-ctx.Done()
	return nil, ctx.Err()
}
