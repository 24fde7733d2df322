package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// post posts rollout i with its charge.
func post(ctx context.Context, r *Run, i int) error {
	return r.Post(ctx, func(b *Batch) error {
		rr, line := row(i)
		b.PutRollout(rr, line)
		b.Charge(rr.Key, Item{"weight", map[string]float64{"rollouts": 1}})
		return nil
	})
}

// TestPostedInOrder: what Sync acknowledged is there, in the order of the posts, also for one who opens a copy as a kill leaves it.
func TestPostedInOrder(t *testing.T) {
	r := newRun(t)
	ctx := t.Context()
	const n = maxGroup + 2*gather + 3
	for i := range n {
		if err := post(ctx, r, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(killed, os.DirFS(r.Dir())); err != nil {
		t.Fatal(err)
	}
	again, err := Open(killed, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	i := 0
	for rr, err := range again.Rollouts(ctx, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if want, line := row(i); rr.Key != want.Key {
			t.Fatalf("rollout %d: got %s, want %s", i, rr.Key, want.Key)
		} else if got, err := again.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
			t.Fatalf("rollout %d: got %q, %v", i, got, err)
		}
		i++
	}
	if l, err := again.Ledger(ctx); i != n || err != nil || l["weight"]["rollouts"] != n {
		t.Errorf("got %d rollouts and the ledger %v, %v, want %d", i, l, err, n)
	}
}

// TestPostedWithoutSync: what nobody waits for becomes durable by its age.
func TestPostedWithoutSync(t *testing.T) {
	r := newRun(t)
	for round := range 3 { // an age ends, another begins
		if err := post(t.Context(), r, round); err != nil {
			t.Fatal(err)
		}
		rr, _ := row(round)
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if _, ok, err := r.Rollout(t.Context(), rr.Key); err != nil {
				t.Fatal(err)
			} else if ok {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("round %d: the rollout is not there", round)
			}
		}
	}
}

// TestPostedAndClosed: Close finishes what was posted.
func TestPostedAndClosed(t *testing.T) {
	r := newRun(t)
	for i := range 5 {
		if err := post(t.Context(), r, i); err != nil {
			t.Fatal(err)
		}
	}
	r = reopen(t, r)
	if l, err := r.Ledger(t.Context()); err != nil || l["weight"]["rollouts"] != 5 {
		t.Errorf("got %v, %v, want 5 rollouts", l, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(post(t.Context(), r, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("post on a closed run: got %v, want ErrClosed", err)
	}
	if err := r.Sync(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("sync of a closed run: got %v, want ErrClosed", err)
	}
}

// TestRefusedPost: a posted write that is refused fails everything after it, and leaves everything before it.
func TestRefusedPost(t *testing.T) {
	broken := errors.New("cannot be encoded")
	for name, tc := range map[string]struct {
		build func(*Batch) error
		want  error
	}{
		"conflict": {func(b *Batch) error {
			rr, line := row(1)
			b.Charge("first of the batch", Item{"weight", map[string]float64{"rollouts": 100}})
			rr.Reason = "another"
			b.PutRollout(rr, line)
			return nil
		}, ErrConflict},
		"build": {func(*Batch) error { return broken }, broken},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			r, err := Create(t.TempDir(), nil, testOptions)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for i := range 3 {
				if err := post(ctx, r, i); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Post(ctx, tc.build); err != nil {
				t.Fatalf("post: got %v, want it to be told later", err)
			}
			_, appended := r.Append(ctx, "decision", "1", nil)
			for call, err := range map[string]error{"append": appended, "sync": r.Sync(ctx), "post": post(ctx, r, 7)} {
				if !errors.Is(err, tc.want) {
					t.Errorf("%s after it: got %v, want %v", call, err, tc.want)
				}
			}
			if err := r.Close(); err != nil {
				t.Errorf("close: got %v, want nothing that was told before", err)
			}
			if r, err = Open(r.Dir(), testOptions); err != nil {
				t.Fatal(err)
			}
			events, err := r.Events(ctx)
			if l, lerr := r.Ledger(ctx); err != nil || lerr != nil || len(events) != 0 || l["weight"]["rollouts"] != 3 {
				t.Errorf("got events %v and ledger %v (%v, %v), want the three rollouts before it and nothing after", events, l, err, lerr)
			}
			if err := post(ctx, r, 7); err != nil {
				t.Errorf("opened again: %v", err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRefusedPostIsTold: where nobody asks any more, Close tells.
func TestRefusedPostIsTold(t *testing.T) {
	r, err := Create(t.TempDir(), nil, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("cannot be encoded")
	if err := r.Post(t.Context(), func(*Batch) error { return broken }); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the post", err)
	}
}

// brokenOp stands for a disk that fails in the middle of a group.
type brokenOp struct{ err error }

func (o brokenOp) apply(context.Context, *writer) error { return o.err }

// TestBrokenGroup: a group that cannot be committed fails all who wait for it, and of it nothing remains.
func TestBrokenGroup(t *testing.T) {
	for name, posted := range map[string]bool{"posted": true, "awaited": false} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			r, err := Create(t.TempDir(), nil, testOptions)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rr, line := row(0)
			if err := r.PutRollout(ctx, rr, line); err != nil {
				t.Fatal(err)
			}
			// The writer stands in this request until all of the group have come.
			stands, gate := make(chan struct{}), make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := r.writer.submit(ctx, &request{build: func() ([]op, error) { close(stands); <-gate; return nil, nil }}); err != nil {
					t.Error(err)
				}
			})
			<-stands
			disk := errors.New("disk on fire")
			errs := make([]error, 4)
			for i := range errs[:3] {
				wg.Go(func() { _, errs[i] = r.Append(ctx, "decision", fmt.Sprint(i), i) })
			}
			waiting(t, r, 4)
			if posted {
				if err := post(ctx, r, 1); err != nil {
					t.Fatal(err)
				}
			}
			wg.Go(func() { errs[3] = r.writer.submit(ctx, &request{ops: []op{brokenOp{disk}}}) })
			waiting(t, r, map[bool]int{true: 6, false: 5}[posted])
			close(gate)
			wg.Wait()
			for i, err := range errs {
				if !errors.Is(err, disk) {
					t.Errorf("request %d: got %v, want the disk's error", i, err)
				}
			}
			// Where a post is lost with the group nothing may follow; otherwise all have been told, and the next may try.
			if _, err := r.Append(ctx, "decision", "9", 9); errors.Is(err, disk) != posted {
				t.Errorf("after it: got %v", err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if r, err = Open(r.Dir(), testOptions); err != nil {
				t.Fatal(err)
			}
			events, err := r.Events(ctx)
			if l, lerr := r.Ledger(ctx); err != nil || lerr != nil || len(l) != 0 || len(events) > 1 || len(events) == 1 && (posted || events[0].Op != "9") {
				t.Errorf("got events %v and ledger %v (%v, %v), want nothing of the group", events, l, err, lerr)
			}
			if got, err := r.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
				t.Errorf("what was there before: got %q, %v", got, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// waiting waits until n requests are under way.
func waiting(t *testing.T, r *Run, n int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		r.writer.mu.Lock()
		got := r.writer.under
		r.writer.mu.Unlock()
		if got == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("got %d requests under way, want %d", got, n)
		}
	}
}

// childPost posts rollouts and acknowledges them after Sync, until it is killed; an event follows each Sync.
func childPost(args []string) error {
	from, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	r, err := Open(args[0], testOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	ctx := context.Background()
	for i := from; ; {
		first := i
		for range 1 + i*7%23 {
			if err := post(ctx, r, i); err != nil {
				return err
			}
			i++
		}
		if i%3 > 0 { // an event takes the posts before it along
			if err := r.Sync(ctx); err != nil {
				return err
			}
		}
		if _, err := r.Append(ctx, "done", fmt.Sprint(i), [2]int{first, i}); err != nil {
			return err
		}
		for k := first; k < i; k++ {
			fmt.Printf("rollout %d\n", k)
		}
	}
}

// TestKillWhilePosting: after a kill there is what was acknowledged, no event without the rollouts before it, and no gap.
func TestKillWhilePosting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, nil, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	acked := map[int]bool{}
	from := 0
	for kill := range 6 {
		writeAndKill(t, "post", dir, from, time.Duration(kill*kill*7)*time.Millisecond, acked)
		from = checkPosted(t, dir, acked)
	}
	if len(acked) < 20 {
		t.Fatalf("only %d rollouts were acknowledged: the test exercises nothing", len(acked))
	}
}

func checkPosted(t *testing.T, dir string, acked map[int]bool) (next int) {
	t.Helper()
	ctx := t.Context()
	r, err := Open(dir, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for rr, err := range r.Rollouts(ctx, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if want, line := row(next); rr.Key != want.Key {
			t.Fatalf("got rollout %s, want %s: a gap", rr.Key, want.Key)
		} else if got, err := r.Trajectory(ctx, rr.Key); err != nil || string(got) != string(line) {
			t.Fatalf("rollout %d: got %q, %v", next, got, err)
		}
		next++
	}
	for i := range acked {
		if i >= next {
			t.Fatalf("rollout %d was acknowledged and is gone", i)
		}
	}
	events, err := r.Events(ctx, "done")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if end, err := strconv.Atoi(e.Op); err != nil || end > next {
			t.Fatalf("event %s stands on rollouts of which only %d are there (%v)", strings.TrimSpace(string(e.Data)), next, err)
		}
	}
	if l, err := r.Ledger(ctx); err != nil || l["weight"]["rollouts"] != float64(next) {
		t.Fatalf("ledger: got %v, %v, want %d", l, err, next)
	}
	return next
}
