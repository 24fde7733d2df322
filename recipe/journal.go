package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/store"
)

// journal is the run's write-once log: an entry is known by kind and operation id. It satisfies metaharness.Log.
type journal struct {
	run  *store.Run
	mu   sync.Mutex
	seen map[string]json.RawMessage // kind \x00 op
}

func openJournal(ctx context.Context, run *store.Run) (*journal, error) {
	events, err := run.Events(ctx)
	if err != nil {
		return nil, err
	}
	j := &journal{run: run, seen: make(map[string]json.RawMessage, len(events))}
	for _, e := range events {
		j.seen[e.Kind+"\x00"+e.Op] = e.Data
	}
	return j, nil
}

// Lookup reads an entry into v, if there is one.
func (j *journal) Lookup(_ context.Context, kind, op string, v any) (bool, error) {
	j.mu.Lock()
	data, ok := j.seen[kind+"\x00"+op]
	j.mu.Unlock()
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("journal: %s %s: %w", kind, op, err)
	}
	return true, nil
}

// Record writes an entry; it is durable when Record returns. The same entry again is fine, a different one is an error: a resumed run
// that decides otherwise than the killed one must not go on.
func (j *journal) Record(ctx context.Context, kind, op string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("journal: %s %s: %w", kind, op, err)
	}
	if _, err := j.run.Append(ctx, kind, op, json.RawMessage(data)); err != nil {
		return err
	}
	j.mu.Lock()
	j.seen[kind+"\x00"+op] = data
	j.mu.Unlock()
	return nil
}

// rolloutCache keeps rollouts in the run directory and charges them to the ledger. It satisfies rollout.Cache.
type rolloutCache struct {
	run      *store.Run
	phase    string // of the plan
	step     int
	open     int // which opening of the run this is
	known    *keySet
	siblings *siblings     // nil outside of a comparison
	lost     *atomic.Int64 // rollouts of this opening that were lost
}

// keySet is the keys of the rollouts that the run has, so that the many that it has not cost no look-up.
type keySet struct {
	mu   sync.Mutex
	keys map[string]struct{}
}

func loadKeys(ctx context.Context, run *store.Run) (*keySet, error) {
	s := &keySet{keys: map[string]struct{}{}}
	for row, err := range run.Rollouts(ctx, store.Filter{}) {
		if err != nil {
			return nil, err
		}
		s.keys[row.Key] = struct{}{}
	}
	return s, nil
}

func (s *keySet) has(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.keys[key]
	return ok
}

func (s *keySet) add(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key] = struct{}{}
}

// Get reads a rollout by its key.
func (c rolloutCache) Get(ctx context.Context, key whale.RolloutKey) (*whale.Rollout, bool, error) {
	id := string(key.ID())
	if !c.known.has(id) {
		return c.takeOver(ctx, id)
	}
	_, ok, err := c.run.Rollout(ctx, id)
	if err == nil && !ok { // made a moment ago, and still on its way to the disk
		if err = c.run.Sync(ctx); err == nil {
			_, ok, err = c.run.Rollout(ctx, id)
		}
	}
	if err != nil || !ok {
		return nil, false, err
	}
	data, err := c.run.Trajectory(ctx, id)
	if err != nil {
		return nil, false, err
	}
	r, err := decodeRollout(id, data)
	return r, err == nil, err
}

// takeOver copies a rollout that a run beside this one made into this run's journal. It is charged like any other, for this run's budget is
// spent by it, and counted as shared.
func (c rolloutCache) takeOver(ctx context.Context, id string) (*whale.Rollout, bool, error) {
	data, err := c.siblings.trajectory(ctx, id)
	if err != nil || data == nil {
		return nil, false, err
	}
	r, err := decodeRollout(id, data)
	if err != nil {
		return nil, false, err
	}
	if err := c.run.Post(ctx, func(b *store.Batch) error { return c.write(b, id, r, 1) }); err != nil {
		return nil, false, err
	}
	c.known.add(id)
	return r, true, nil
}

func decodeRollout(id string, data []byte) (*whale.Rollout, error) {
	r := new(whale.Rollout)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("rollout %s: %w", id, err)
	}
	if got := string(r.Key.ID()); got != id {
		return nil, fmt.Errorf("rollout %s: its trajectory belongs to rollout %s", id, got)
	}
	return r, nil
}

// Put keeps a complete rollout with its trajectory and its cost. It does not wait for the disk, so that the next episode can begin.
// A decision from rollouts is recorded in the journal before it is acted on, and is durable only after them; training waits for them (settled).
func (c rolloutCache) Put(ctx context.Context, r *whale.Rollout) error {
	id := string(r.Key.ID())
	if err := c.run.Post(ctx, func(b *store.Batch) error { return c.write(b, id, r, 0) }); err != nil {
		return err
	}
	c.known.add(id)
	return nil
}

func (c rolloutCache) write(b *store.Batch, id string, r *whale.Rollout, shared float64) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	usage, err := json.Marshal(r.Episode.Usage)
	if err != nil {
		return err
	}
	reward := r.Reward()
	reason := r.Verdict.Reason
	if f := r.Episode.Failure; f != nil {
		reason = string(f.Reason) + ": " + f.Detail
	}
	u := r.Episode.Usage.Plus(r.Wasted)
	b.PutRollout(store.RolloutRow{
		Key: id, Purpose: string(r.Key.Purpose), Phase: c.phase, Step: c.step, ExampleID: r.Key.Example, Draw: r.Key.Draw,
		Harness: string(r.Key.Harness), Weights: string(r.Key.Weights), State: string(r.State), Reward: &reward, Reason: reason, Usage: usage,
	}, line)
	counters := map[string]float64{
		"rollouts": 1, "model_calls": float64(u.ModelCalls), "tool_calls": float64(u.ToolCalls),
		"prompt_tokens": float64(u.PromptTokens), "sampled_tokens": float64(u.SampledTokens), "retries": float64(r.Retries),
	}
	if shared > 0 {
		counters["shared"] = shared // taken over from a run beside this one
	}
	b.Charge("rollout/"+id, store.Item{Purpose: string(r.Key.Purpose), Counters: counters})
	return nil
}

// Lost charges what a rollout in state error spent; each of its appearances anew.
func (c rolloutCache) Lost(ctx context.Context, r *whale.Rollout) error {
	u := r.Wasted
	return c.run.Charge(ctx, fmt.Sprintf("lost/%s/%d/%d", r.Key.ID(), c.open, c.lost.Add(1)), store.Item{Purpose: string(r.Key.Purpose), Counters: map[string]float64{
		"errors": 1, "model_calls": float64(u.ModelCalls), "tool_calls": float64(u.ToolCalls),
		"prompt_tokens": float64(u.PromptTokens), "sampled_tokens": float64(u.SampledTokens), "retries": float64(r.Retries),
	}})
}
