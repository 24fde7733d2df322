package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestConcurrentPuts(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	const workers, each = 32, 100
	start := time.Now()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				// Every key is written by two workers.
				rr, line := row(w/2*each + i)
				if err := r.PutRollout(ctx, rr, line); err != nil {
					t.Error(err)
					return
				}
				if got, err := r.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
					t.Errorf("read back: %q, %v", got, err)
					return
				}
				if i%10 == 0 {
					if err := r.Charge(ctx, fmt.Sprint(w, "-", i), Item{"weight", map[string]float64{"n": 1}}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%.0f puts/s, each read back", workers*each/time.Since(start).Seconds())
	n := 0
	for _, err := range r.Rollouts(ctx, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != workers/2*each {
		t.Fatalf("got %d rows, want %d", n, workers/2*each)
	}
	if l, _ := r.Ledger(ctx); l["weight"]["n"] != workers*each/10 {
		t.Fatalf("ledger: got %v", l)
	}
}

// The journal behaves as a map from operation to the first payload, whatever the order of calls and reopenings.
func TestJournalModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "run")
		if err != nil {
			rt.Fatal(err)
		}
		r, err := Create(dir, nil, testOptions)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { r.Close() }()
		ctx := t.Context()
		events, charged := map[string]string{}, map[string]float64{}
		total := 0.0
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				op, v := rapid.StringMatching("[ab]").Draw(rt, "op"), rapid.StringMatching("[xy]").Draw(rt, "v")
				_, err := r.Append(ctx, "k", op, v)
				if old, ok := events[op]; ok && old != v {
					if !errors.Is(err, ErrConflict) {
						rt.Fatalf("got %v, want ErrConflict", err)
					}
					return
				}
				if err != nil {
					rt.Fatal(err)
				}
				events[op] = v
			},
			"charge": func(rt *rapid.T) {
				op, n := rapid.StringMatching("[abc]").Draw(rt, "op"), float64(rapid.IntRange(0, 3).Draw(rt, "n"))
				err := r.Charge(ctx, op, Item{"p", map[string]float64{"n": n}})
				if old, ok := charged[op]; ok {
					if (err == nil) != (old == n) {
						rt.Fatalf("charge %v over %v: %v", n, old, err)
					}
					return
				}
				if err != nil {
					rt.Fatal(err)
				}
				charged[op] = n
				total += n
			},
			"reopen": func(rt *rapid.T) {
				if err := r.Close(); err != nil {
					rt.Fatal(err)
				}
				if r, err = Open(dir, testOptions); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				got, err := r.Events(ctx)
				if err != nil || len(got) != len(events) {
					rt.Fatalf("got %d events, %v, want %d", len(got), err, len(events))
				}
				for _, e := range got {
					if string(e.Data) != fmt.Sprintf("%q", events[e.Op]) {
						rt.Fatalf("event %s: got %s, want %q", e.Op, e.Data, events[e.Op])
					}
				}
				if l, err := r.Ledger(ctx); err != nil || l["p"]["n"] != total {
					rt.Fatalf("ledger: got %v, %v, want %v", l, err, total)
				}
			},
		})
	})
}

func BenchmarkPutRollout(b *testing.B) {
	r, err := Create(b.TempDir(), nil, testOptions)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	var next sync.Mutex
	i := 0
	pad := strings.Repeat("a trajectory has some kilobytes of text. ", 100)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			next.Lock()
			i++
			n := i
			next.Unlock()
			rr, _ := row(n)
			if err := r.PutRollout(context.Background(), rr, fmt.Appendf(nil, `{"i":%d,"t":%q}`, n, pad)); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "puts/s")
}
