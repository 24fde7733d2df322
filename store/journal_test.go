package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestAppendIsIdempotent(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	type payload struct{ A, B int }
	seq1, err := r.Append(ctx, "step", "s1", payload{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	seq2, err := r.Append(ctx, "phase", "s1", map[string]int{"z": 1, "a": 2})
	if err != nil || seq2 <= seq1 {
		t.Fatalf("got seq %d after %d, %v", seq2, seq1, err)
	}
	if again, err := r.Append(ctx, "step", "s1", payload{1, 2}); err != nil || again != seq1 {
		t.Fatalf("again: got %d, %v, want %d", again, err, seq1)
	}
	if _, err := r.Append(ctx, "step", "s1", payload{1, 3}); !errors.Is(err, ErrConflict) {
		t.Fatalf("other payload: got %v, want ErrConflict", err)
	}
	r = reopen(t, r)
	if again, err := r.Append(ctx, "step", "s1", payload{1, 2}); err != nil || again != seq1 {
		t.Fatalf("after reopening: got %d, %v, want %d", again, err, seq1)
	}
	events, err := r.Events(ctx)
	if err != nil || len(events) != 2 {
		t.Fatalf("got %d events, %v", len(events), err)
	}
	e := events[1]
	if e.Kind != "phase" || string(e.Data) != `{"a":2,"z":1}` || !e.At.Equal(testOptions.Now()) {
		t.Fatalf("got %+v", e)
	}
	if only, _ := r.Events(ctx, "phase", "other"); len(only) != 1 || only[0].Seq != seq2 {
		t.Fatalf("by kind: got %+v", only)
	}
	if after, _ := r.EventsAfter(ctx, seq1); len(after) != 1 || after[0].Seq != seq2 {
		t.Fatalf("after: got %+v", after)
	}
}

func TestRolloutRoundTrip(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	want, line := row(3)
	want.Reason = "bad \x00 bytes \xff\xfe and 'quotes'"
	if err := r.PutRollout(ctx, want, line); err != nil {
		t.Fatal(err)
	}
	for range 2 { // before and after reopening
		got, ok, err := r.Rollout(ctx, want.Key)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		want.Seq, want.At = got.Seq, got.At
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		tr, err := r.Trajectory(ctx, want.Key)
		if err != nil || string(tr) != string(line) {
			t.Fatalf("got %q, %v, want %q", tr, err, line)
		}
		r = reopen(t, r)
	}
	if _, ok, err := r.Rollout(ctx, "none"); ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, err := r.Trajectory(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
}

func TestRolloutWrittenOnce(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	first, line := row(1)
	if err := r.PutRollout(ctx, first, line); err != nil {
		t.Fatal(err)
	}
	if err := r.PutRollout(ctx, first, line); err != nil {
		t.Fatalf("equal again: %v", err)
	}
	half := 0.5
	for name, change := range map[string]func(*RolloutRow, *[]byte){
		"purpose":    func(r *RolloutRow, _ *[]byte) { r.Purpose = "search" },
		"phase":      func(r *RolloutRow, _ *[]byte) { r.Phase = "h9" },
		"step":       func(r *RolloutRow, _ *[]byte) { r.Step++ },
		"example":    func(r *RolloutRow, _ *[]byte) { r.ExampleID = "y" },
		"draw":       func(r *RolloutRow, _ *[]byte) { r.Draw++ },
		"harness":    func(r *RolloutRow, _ *[]byte) { r.Harness = "h9" },
		"weights":    func(r *RolloutRow, _ *[]byte) { r.Weights = "w9" },
		"state":      func(r *RolloutRow, _ *[]byte) { r.State = "error" },
		"reward":     func(r *RolloutRow, _ *[]byte) { r.Reward = &half },
		"no reward":  func(r *RolloutRow, _ *[]byte) { r.Reward = nil },
		"reason":     func(r *RolloutRow, _ *[]byte) { r.Reason = "why" },
		"usage":      func(r *RolloutRow, _ *[]byte) { r.Usage = []byte(`{}`) },
		"trajectory": func(_ *RolloutRow, t *[]byte) { *t = []byte(`{}`) },
	} {
		other, otherLine := row(1)
		change(&other, &otherLine)
		err := r.PutRollout(ctx, other, otherLine)
		if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), strings.TrimPrefix(name, "no ")) {
			t.Errorf("%s: got %v, want ErrConflict that names it", name, err)
		}
	}
	if got, _ := r.Trajectory(ctx, first.Key); string(got) != string(line) {
		t.Fatalf("the first trajectory changed to %q", got)
	}
}

func TestRolloutRefused(t *testing.T) {
	r := newRun(t)
	nan, good := math.NaN(), []byte(`{}`)
	for name, c := range map[string]struct {
		row  RolloutRow
		line []byte
	}{
		"no key":    {RolloutRow{}, good},
		"nan":       {RolloutRow{Key: "a", Reward: &nan}, good},
		"two lines": {RolloutRow{Key: "a"}, []byte("{}\n{}")},
		"no json":   {RolloutRow{Key: "a"}, []byte("{")},
		"usage":     {RolloutRow{Key: "a", Usage: []byte("{")}, good},
	} {
		if err := r.PutRollout(t.Context(), c.row, c.line); err == nil {
			t.Errorf("%s: got nil, want an error", name)
		}
	}
	if err := r.PutRollout(t.Context(), RolloutRow{Key: "none"}, nil); err != nil {
		t.Fatal(err)
	}
	if tr, err := r.Trajectory(t.Context(), "none"); err != nil || len(tr) != 0 {
		t.Fatalf("got %q, %v, want no trajectory", tr, err)
	}
}

func TestRolloutsFilter(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	b := new(Batch)
	const n = 1300 // more than two pages
	for i := range n {
		rr, line := row(i)
		rr.Harness = fmt.Sprint("h", i%3)
		b.PutRollout(rr, line)
	}
	if err := r.Commit(ctx, b); err != nil {
		t.Fatal(err)
	}
	count := func(f Filter) (k int) {
		last := int64(0)
		for rr, err := range r.Rollouts(ctx, f) {
			if err != nil {
				t.Fatal(err)
			}
			if rr.Seq <= last {
				t.Fatalf("seq %d after %d", rr.Seq, last)
			}
			last = rr.Seq
			k++
		}
		return k
	}
	step := 2
	for _, c := range []struct {
		f    Filter
		want int
	}{
		{Filter{}, n}, {Filter{Purpose: "weight"}, n}, {Filter{Purpose: "search"}, 0}, {Filter{Step: &step}, 8},
		{Filter{Harness: "h1", Weights: "w0", Phase: "w0", State: "scored"}, 433}, {Filter{After: 1200}, 100},
	} {
		if got := count(c.f); got != c.want {
			t.Errorf("%+v: got %d, want %d", c.f, got, c.want)
		}
	}
	// Writing inside the loop neither blocks nor prolongs it.
	seen := 0
	for rr, err := range r.Rollouts(ctx, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen <= 3 {
			rr.Key = fmt.Sprint("new-", seen)
			if err := r.PutRollout(ctx, rr, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if seen != n {
		t.Fatalf("got %d rows, want %d", seen, n)
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	for _, err := range r.Rollouts(ended, Filter{}) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want context.Canceled", err)
		}
	}
}

func TestSegmentIsPlainZstd(t *testing.T) {
	zstd, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("no zstd program")
	}
	r := newRun(t)
	var want strings.Builder
	for i := range 5 {
		rr, line := row(i)
		if err := r.PutRollout(t.Context(), rr, line); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, "%s\n", line)
	}
	got, err := exec.Command(zstd, "-dc", filepath.Join(r.Dir(), "trajectories", "000001.jsonl.zst")).Output()
	if err != nil || string(got) != want.String() {
		t.Fatalf("got %q, %v, want %q", got, err, want.String())
	}
}

func TestDamagedTrajectory(t *testing.T) {
	r := newRun(t)
	rr, line := row(1)
	if err := r.PutRollout(t.Context(), rr, line); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(r.Dir(), "trajectories", "000001.jsonl.zst")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		bad := append([]byte(nil), data...)
		bad[i] ^= 0x41
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := r.Trajectory(t.Context(), rr.Key)
		// A flipped bit may sit where the format does not look; then the content must be right all the same.
		if err == nil && string(got) != string(line) || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d flipped: got %q, %v", i, got, err)
		}
	}
	if err := os.Truncate(name, int64(len(data)-1)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.Dir(), testOptions); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("segment cut short: got %v, want ErrCorrupt", err)
	}
}

func TestTornTailIsCut(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	rr, line := row(1)
	if err := r.PutRollout(ctx, rr, line); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(r.Dir(), "trajectories", "000001.jsonl.zst")
	before, _ := os.Stat(name)
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "half a frame")
	f.Close()
	orphan := filepath.Join(r.Dir(), "trajectories", "000002.jsonl.zst")
	if err := os.WriteFile(orphan, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir(), ".tmp", "left"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r = reopen(t, r)
	if after, _ := os.Stat(name); after.Size() != before.Size() {
		t.Fatalf("got %d bytes, want %d", after.Size(), before.Size())
	}
	if _, err := os.Stat(orphan); err == nil {
		t.Fatal("a segment nothing refers to is still there")
	}
	if left, _ := os.ReadDir(filepath.Join(r.Dir(), ".tmp")); len(left) != 0 {
		t.Fatalf("scratch: got %v, want it empty", left)
	}
	second, line2 := row(2)
	if err := r.PutRollout(ctx, second, line2); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Trajectory(ctx, second.Key); err != nil || string(got) != string(line2) {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestSegmentsRoll(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	r.writer.seg.size = 0
	for i := range 3 {
		rr, line := row(i)
		if i == 1 {
			// As if the first segment had grown to its limit; the goroutine is idle here.
			r.writer.seg.size = segmentSize
		}
		if err := r.PutRollout(ctx, rr, line); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for i := range 3 {
			rr, line := row(i)
			if got, err := r.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
				t.Fatalf("rollout %d: got %q, %v", i, got, err)
			}
		}
		r = reopen(t, r)
	}
	if names, _ := os.ReadDir(filepath.Join(r.Dir(), "trajectories")); len(names) != 2 {
		t.Fatalf("got %v, want two segments", names)
	}
}

func TestLedger(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	item := Item{"weight", map[string]float64{"rollouts": 1, "tokens": 100}}
	for range 3 {
		if err := r.Charge(ctx, "op1", item); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Charge(ctx, "op2", item); err != nil {
		t.Fatal(err)
	}
	if err := r.Charge(ctx, "op3", Item{"search", map[string]float64{"tokens": 7}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Charge(ctx, "op1", Item{"weight", map[string]float64{"rollouts": 2}}); !errors.Is(err, ErrConflict) {
		t.Fatalf("got %v, want ErrConflict", err)
	}
	for name, bad := range map[string]Item{
		"no purpose": {"", map[string]float64{"a": 1}}, "none": {"p", nil}, "negative": {"p", map[string]float64{"a": -1}},
		"infinite": {"p", map[string]float64{"a": math.Inf(1)}},
	} {
		if err := r.Charge(ctx, "bad", bad); err == nil {
			t.Errorf("%s: got nil, want an error", name)
		}
	}
	r = reopen(t, r)
	want := map[string]map[string]float64{"weight": {"rollouts": 2, "tokens": 200}, "search": {"tokens": 7}}
	if got, err := r.Ledger(ctx); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, %v, want %v", got, err, want)
	}
}

func TestBatchIsAllOrNothing(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	if _, err := r.Append(ctx, "k", "taken", 1); err != nil {
		t.Fatal(err)
	}
	b := new(Batch)
	rr, line := row(1)
	b.PutRollout(rr, line)
	b.Charge("c", Item{"weight", map[string]float64{"n": 1}})
	b.Append("k", "taken", 2)
	if err := r.Commit(ctx, b); !errors.Is(err, ErrConflict) {
		t.Fatalf("got %v, want ErrConflict", err)
	}
	if _, ok, _ := r.Rollout(ctx, rr.Key); ok {
		t.Fatal("half of a refused batch is there")
	}
	if l, _ := r.Ledger(ctx); len(l) != 0 {
		t.Fatalf("ledger: got %v, want none", l)
	}
	b = new(Batch)
	b.PutRollout(rr, line)
	b.Charge("c", Item{"weight", map[string]float64{"n": 1}})
	for range 2 {
		if err := r.Commit(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := r.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
		t.Fatalf("got %q, %v", got, err)
	}
	b = new(Batch)
	b.Append("", "", 1)
	b.Append("fine", "1", 1)
	if err := r.Commit(ctx, b); err == nil {
		t.Fatal("an invalid write in a batch: got nil, want an error")
	}
}
