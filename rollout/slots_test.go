package rollout

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale"
)

// crowd watches how many episodes run at once.
type crowd struct {
	running, most, aloneTries atomic.Int32
	company                   atomic.Int32 // most others that an episode which is repeated alone met
}

// visit is an episode that stays for a while and, where it stalls, ends by an incident the first time.
func (c *crowd) visit(stalls bool) goHarness {
	return goHarness{fmt.Sprintf("visit %v", stalls), func(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
		raise(&c.most, c.running.Add(1))
		defer c.running.Add(-1)
		alone := whale.IsAlone(ctx)
		if stalls && !alone {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		if alone {
			c.aloneTries.Add(1)
		}
		for range 10 { // others would come in meanwhile
			if alone {
				raise(&c.company, c.running.Load()-1)
			}
			time.Sleep(time.Millisecond)
		}
		r, err := chat(ctx, h, user("?"))
		if err != nil {
			return 0, err
		}
		return r.Ref, nil
	}}
}

func raise(to *atomic.Int32, n int32) {
	for {
		was := to.Load()
		if n <= was || to.CompareAndSwap(was, n) {
			return
		}
	}
}

// TestRunnersShareSlots runs several runners side by side: together they keep to the slots, and an episode that met an incident is
// repeated with none of the others' running.
func TestRunnersShareSlots(t *testing.T) {
	const size = 4
	var c crowd
	slots := NewSlots(size)
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			r := runner(&bytePolicy{script: says("yes")})
			r.Concurrency, r.Slots, r.Limits.WallSeconds = size, slots, 0.5
			var jobs []Job
			for i := range 20 {
				jobs = append(jobs, job(c.visit(i == 3), fmt.Sprint(n, i)))
			}
			out, err := r.Run(t.Context(), jobs)
			if err != nil {
				t.Error(err)
				return
			}
			for i, ro := range out {
				if ro.State != whale.StateScored || ro.Reward() != 1 {
					t.Errorf("runner %d: episode %d: got %s %+v, want scored 1", n, i, ro.State, ro.Verdict)
				}
			}
		})
	}
	wg.Wait()
	if got := c.most.Load(); got != size {
		t.Errorf("episodes at once: got %d, want %d", got, size)
	}
	if got := c.aloneTries.Load(); got < 3 {
		t.Errorf("repeated alone: got %d, want the 3 that stalled", got)
	}
	if got := c.company.Load(); got != 0 {
		t.Errorf("an episode that is repeated alone met %d others", got)
	}
	if !slots.free.TryAcquire(size) {
		t.Error("not all slots were given back")
	}
}

// TestCancelWhileWaitingForASlot: a run that waits for its turn ends with its context, and leaves the slots to their holder.
func TestCancelWhileWaitingForASlot(t *testing.T) {
	slots := NewSlots(1)
	free, err := slots.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the disk is full")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
	r := runner(&bytePolicy{script: says("yes")})
	r.Slots = slots
	if _, err := r.Run(ctx, []Job{job(answersYes, "x")}); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause", err)
	}
	free()
	if _, err := r.Run(t.Context(), []Job{job(answersYes, "x")}); err != nil {
		t.Errorf("after the slot was freed: %v", err)
	}
}
