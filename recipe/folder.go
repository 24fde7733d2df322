package recipe

import (
	"context"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
	"github.com/seed-095d5d2b/whale/task/custom"
)

// CheckFolder checks the folder of somebody's task: its data, its verifier on the reference answers, and that many episodes of its harness under
// a model. The report says what is wrong; the error that it could not be looked at.
func CheckFolder(ctx context.Context, folder, model string, episodes int, use Resources) (*custom.Report, error) {
	c := Default()
	c.Task = TaskConfig{Kind: TaskCustom, Custom: custom.Config{Folder: folder}}
	c.Policy.Model = model
	p, err := openAgent(c, use)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	policy := p.BasePolicy()
	defer policy.Close()
	report, err := custom.Check(ctx, c.Task.Custom, p.customDeps(use), custom.CheckOptions{
		Episodes: episodes,
		Run: func(ctx context.Context, t *custom.Task, s whale.Split, x whale.Example) (*whale.Rollout, error) {
			prog, err := LoadProgram(t.HarnessFile())
			if err != nil {
				return nil, err
			}
			h, err := p.Harness(prog)
			if err != nil {
				return nil, err
			}
			r := &rollout.Runner{Task: t, Policy: policy, Limits: c.Limits, Sampling: c.Sampling, RunSeed: c.Seed, Concurrency: 1, Retries: c.Retries}
			list, err := r.Run(ctx, []rollout.Job{{Harness: h, Example: x, Split: s, Purpose: whale.PurposeTrial}})
			if err != nil {
				return nil, err
			}
			return list[0], nil
		},
	})
	if err != nil {
		return nil, &InputError{err}
	}
	return report, nil
}

// OpenFolder opens somebody's task to look at it. Close it, and what it was opened with.
func OpenFolder(ctx context.Context, folder string, use Resources) (t *custom.Task, done func(), err error) {
	p := &Parts{Config: Default()}
	p.Config.Task = TaskConfig{Kind: TaskCustom, Custom: custom.Config{Folder: folder}}
	if t, err = custom.New(ctx, p.Config.Task.Custom, p.customDeps(use)); err != nil {
		p.Close()
		return nil, nil, &InputError{err}
	}
	return t, func() { _ = t.Close(); p.Close() }, nil
}
