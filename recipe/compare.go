package recipe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/renameio/v2"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/store"
)

// Comparison is several methods of one config, each with several seeds: a run directory for each.
type Comparison struct {
	Dir     string // where the run directories are made: Dir/METHOD-SEED
	Config  Config // of every run, method and seed apart; the first seed is its own
	Methods []string
	Seeds   int
	Lanes   int              // seeds that run side by side
	Options Options          // Workers are shared by the lanes; Observe is not used
	Observe func(Arm, Event) // may be nil; called for one event at a time
}

// Arm is one run of a comparison.
type Arm struct {
	Method string `json:"method"`
	Seed   uint64 `json:"seed"`
	Dir    string `json:"dir"`
}

// Arms lists the runs, those of one seed together, in the order in which a lane makes them: the methods whose rollouts others repeat go first.
func (c Comparison) Arms() []Arm {
	var out []Arm
	for i := range c.Seeds {
		seed := c.Config.Seed + uint64(i)
		for _, m := range inOrder(c.Methods) {
			out = append(out, Arm{Method: m, Seed: seed, Dir: filepath.Join(c.Dir, fmt.Sprintf("%s-%d", m, seed))})
		}
	}
	return out
}

// inOrder puts weight-only first: the first weight phase of every other method makes the same rollouts, and stagewise all of them.
func inOrder(methods []string) []string {
	rank := []string{MethodWeightOnly, MethodStagewise, MethodWhale, MethodAdaptive, MethodFST, MethodHarnessOnly}
	out := slices.Clone(methods)
	slices.SortStableFunc(out, func(a, b string) int { return slices.Index(rank, a) - slices.Index(rank, b) })
	return out
}

// manifest is comparison.json: what a comparison directory belongs to.
type manifest struct {
	Config  string   `json:"config"` // resolved YAML of the first arm's config, method apart
	Methods []string `json:"methods"`
	Seeds   int      `json:"seeds"`
}

// ManifestName is the file that makes a directory a comparison's.
const ManifestName = "comparison.json"

// Run makes the runs that are not finished, and finishes those that are under way. An interrupted comparison goes on when it is run again, with
// the same numbers: every run is resumed from its own journal.
func (c Comparison) Run(ctx context.Context) error {
	if last := c.Config.Seed + uint64(c.Seeds) - 1; last < c.Config.Seed {
		return configErrorf("seed: got %d, which leaves no room for %d seeds below 2^64; want a smaller one", c.Config.Seed, c.Seeds)
	}
	if err := c.claim(); err != nil {
		return err
	}
	arms, err := c.standing(ctx)
	if err != nil {
		return err
	}
	if err := c.sameStart(ctx, arms); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lanes := make(chan []standing, c.Seeds)
	for i := range c.Seeds {
		lanes <- arms[i*len(c.Methods) : (i+1)*len(c.Methods)]
	}
	close(lanes)
	var side sync.WaitGroup
	var telling sync.Mutex
	for range min(c.Lanes, c.Seeds) {
		side.Go(func() {
			for lane := range lanes {
				if err := c.lane(ctx, lane, &telling); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	side.Wait()
	return context.Cause(ctx)
}

// standing is an arm and how far it is.
type standing struct {
	Arm
	began    *identities // what the run began with; nil where it has not begun
	opened   []opened    // by whom it was made
	finished bool        // it has written its summary
}

// standing looks at the run directories that are there. A run of another config is a [ChangedError].
func (c Comparison) standing(ctx context.Context) ([]standing, error) {
	var out []standing
	for _, arm := range c.Arms() {
		s, err := c.look(ctx, arm)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (c Comparison) look(ctx context.Context, arm Arm) (standing, error) {
	out := standing{Arm: arm}
	if _, err := os.Lstat(filepath.Join(arm.Dir, "config.yaml")); errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	s, err := store.OpenReadOnly(arm.Dir)
	if err != nil {
		return out, nil // what is wrong with it, opening it for work says better
	}
	defer s.Close()
	text, err := c.config(arm).YAML()
	if err != nil {
		return out, err
	}
	diff, err := DiffKeys(s.Config(), text)
	if err != nil {
		return out, fmt.Errorf("%s/config.yaml: %w", arm.Dir, err)
	}
	if len(diff) > 0 {
		return out, &ChangedError{Dir: arm.Dir, Keys: diff}
	}
	j, err := openJournal(ctx, s)
	if err != nil {
		return out, err
	}
	ids := new(identities)
	if ok, err := j.Lookup(ctx, kindBegin, "begin", ids); err != nil {
		return out, err
	} else if ok {
		out.began = ids
	}
	opens, err := s.Events(ctx, kindOpen)
	if err != nil {
		return out, err
	}
	for _, e := range opens {
		var o opened
		if err := json.Unmarshal(e.Data, &o); err != nil {
			return out, fmt.Errorf("%s: %s %s: %w", arm.Dir, e.Kind, e.Op, err)
		}
		out.opened = append(out.opened, o)
	}
	_, err = os.Lstat(filepath.Join(arm.Dir, filepath.FromSlash(summaryFile)))
	out.finished = err == nil
	return out, nil
}

// config is an arm's.
func (c Comparison) config(arm Arm) Config {
	config := c.Config
	config.Schedule.Method, config.Seed = arm.Method, arm.Seed
	return config
}

// sameStart sees that the runs which are there began with what the config names now. A config names files, and those may have changed: runs that
// began with other weights, another program or another task are no comparison.
func (c Comparison) sameStart(ctx context.Context, arms []standing) error {
	var now *identities
	for _, arm := range arms {
		was := arm.began
		if was == nil {
			continue
		}
		if now == nil {
			var err error
			if now, err = c.start(ctx); err != nil {
				return err
			}
		}
		for _, x := range [...]struct {
			what     string
			was, now whale.ID
		}{
			{"task", was.Task, now.Task}, {"renderer", was.Renderer, now.Renderer}, {"base weights", was.Weights, now.Weights}, {"first harness", was.Harness, now.Harness},
		} {
			if x.was != x.now {
				return &ReplacedError{Dir: arm.Dir, What: x.what, Was: string(x.was), Now: string(x.now)}
			}
		}
	}
	return nil
}

// start is what a run of the comparison would begin with.
func (c Comparison) start(ctx context.Context) (*identities, error) {
	prog, err := LoadProgram(c.Config.Harness)
	if err != nil {
		return nil, err
	}
	parts, err := OpenParts(ctx, c.Config, c.Options.resources())
	if err != nil {
		return nil, err
	}
	defer parts.Close()
	h, err := parts.Harness(prog)
	if err != nil {
		return nil, err
	}
	return &identities{Task: parts.Task.ID(), Renderer: parts.Bundle.Renderer.ID(), Weights: parts.Bundle.Weights().ID, Harness: h.ID()}, nil
}

// lane makes the runs of one seed, one after the other: each finds the rollouts of those before it.
func (c Comparison) lane(ctx context.Context, arms []standing, telling *sync.Mutex) error {
	shared := newSiblings()
	defer shared.close()
	for _, arm := range arms {
		if err := ctx.Err(); err != nil {
			return err
		}
		if arm.finished {
			for _, text := range c.Options.opened().unlike(arm.opened) {
				c.tell(telling, arm.Arm, Event{Kind: EventNotice, Text: "a finished run is taken as it is: " + text})
			}
		} else if err := c.arm(ctx, arm.Arm, shared, telling); err != nil {
			return fmt.Errorf("%s, seed %d: %w", arm.Method, arm.Seed, err)
		}
		if err := shared.add(ctx, arm.Dir); err != nil {
			return fmt.Errorf("%w; remove %s, and it is made again", err, arm.Dir)
		}
	}
	return nil
}

func (c Comparison) tell(telling *sync.Mutex, arm Arm, e Event) {
	if c.Observe != nil {
		telling.Lock()
		defer telling.Unlock()
		c.Observe(arm, e)
	}
}

func (c Comparison) arm(ctx context.Context, arm Arm, shared *siblings, telling *sync.Mutex) error {
	config := c.config(arm)
	opt := c.Options
	opt.Workers = max(1, opt.Workers/max(1, min(c.Lanes, c.Seeds)))
	opt.siblings = shared
	opt.Observe = func(e Event) { c.tell(telling, arm, e) }
	r, err := Start(ctx, config, arm.Dir, opt)
	if errors.Is(err, store.ErrExists) {
		r, err = Resume(ctx, arm.Dir, &config, opt)
	}
	if err != nil {
		return err
	}
	_, err = r.Execute(ctx)
	return errors.Join(err, r.Close())
}

// claim writes the manifest, or sees that the directory's manifest is this comparison's. Other seeds or methods than before are fine: the runs that
// are there stay what they are, and in the manifest.
func (c Comparison) claim() error {
	base := c.Config
	base.Schedule.Method = MethodWhale
	text, err := base.YAML()
	if err != nil {
		return err
	}
	now := manifest{Config: string(text), Methods: c.Methods, Seeds: c.Seeds}
	path := filepath.Join(c.Dir, ManifestName)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		var was manifest
		if err := json.Unmarshal(data, &was); err != nil {
			return fmt.Errorf("%s: %w; remove this file: the runs beside it know their own configs", path, err)
		}
		diff, err := DiffKeys([]byte(was.Config), text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(diff) > 0 {
			return &ChangedError{Dir: c.Dir, Keys: diff, Comparison: true}
		}
		now.Seeds = max(now.Seeds, was.Seeds)
		now.Methods = slices.DeleteFunc(Methods(), func(m string) bool { return !slices.Contains(now.Methods, m) && !slices.Contains(was.Methods, m) })
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	if data, err = json.MarshalIndent(now, "", "  "); err != nil {
		return err
	}
	return renameio.WriteFile(path, append(data, '\n'), 0o644, renameio.WithTempDir(c.Dir))
}

// Smoke makes a config small, to see a comparison work: two cycles, at most two sessions each, and mean@2.
func Smoke(c Config) Config {
	if len(c.Schedule.Cycles) > 0 {
		c.Schedule.Cycles = slices.Clone(c.Schedule.Cycles[:min(2, len(c.Schedule.Cycles))])
		for i := range c.Schedule.Cycles {
			c.Schedule.Cycles[i].Sessions = min(2, c.Schedule.Cycles[i].Sessions)
		}
	} else {
		c.Schedule.TotalEpochs = min(c.Schedule.TotalEpochs, 2*c.Schedule.Epochs)
		c.Schedule.Sessions = min(2, c.Schedule.Sessions)
	}
	c.Evaluation.Draws = min(2, c.Evaluation.Draws)
	c.Name = strings.TrimSuffix(c.Name, "-smoke") + "-smoke"
	return c
}
