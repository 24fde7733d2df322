package recipe

import (
	"context"
	"fmt"
	"sync"

	"github.com/seed-095d5d2b/whale/store"
)

// siblings are finished runs whose rollouts another run may take over where keys are equal: a key names weights, harness, task, example,
// sampling and seed, so that what it stands for is the same evidence whoever made it (design, invariant 2).
type siblings struct {
	mu   sync.Mutex
	runs []*store.Run
	keys map[string]*store.Run
}

func newSiblings() *siblings { return &siblings{keys: map[string]*store.Run{}} }

// add takes in a finished run.
func (s *siblings) add(ctx context.Context, dir string) error {
	run, err := store.OpenReadOnly(dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, run)
	for row, err := range run.Rollouts(ctx, store.Filter{}) {
		if err != nil {
			return err
		}
		if _, ok := s.keys[row.Key]; !ok {
			s.keys[row.Key] = run
		}
	}
	return nil
}

// trajectory gives a rollout's line as a sibling has it; nil where none has.
func (s *siblings) trajectory(ctx context.Context, key string) ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	run := s.keys[key]
	s.mu.Unlock()
	if run == nil {
		return nil, nil
	}
	line, err := run.Trajectory(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("a rollout of the run %s, beside this one: %w; remove that folder, and it is made again", run.Dir(), err)
	}
	return line, nil
}

func (s *siblings) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		r.Close()
	}
}
