package grpo

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/rollout"
)

// Update makes rollout steps of GRPO. It is a [modelupdate.ModelUpdate].
type Update struct {
	Config   modelupdate.Config
	GRPO     Config
	Trainer  whale.Trainer
	Examples []whale.Example // D_weight
	RunSeed  uint64
	// Reference scores under the weights at the start of the phase. It is asked for once a step with something to learn from, and only where
	// GRPO.KL is not 0; a caller that resumes a phase gives the same weights again.
	Reference func(ctx context.Context) (whale.Scorer, error)
}

// Validate names the first setting that makes no sense; it looks at settings alone.
func (u *Update) Validate() error {
	if err := u.Config.Validate(); err != nil {
		return err
	}
	if u.Config.Group < 2 {
		return fmt.Errorf("weight.group: got %d, want 2 or more: grpo compares the rollouts of a group", u.Config.Group)
	}
	return u.GRPO.Validate()
}

// Step samples, compares within groups, and trains.
func (u *Update) Step(ctx context.Context, run *rollout.Runner, h whale.Harness, step int) (modelupdate.StepResult, error) {
	if err := u.Trainer.CheckLoss(u.GRPO.Loss()); err != nil {
		return modelupdate.StepResult{}, err
	}
	if u.GRPO.KL != 0 && u.Reference == nil {
		return modelupdate.StepResult{}, fmt.Errorf("grpo: kl: got %g, want 0 where nothing scores the phase's start", u.GRPO.KL)
	}
	rollouts, res, err := modelupdate.Sample(ctx, run, u.Config.Jobs(h, u.Examples, u.RunSeed, step), step)
	if err != nil {
		return res, err
	}
	informative, err := u.compare(rollouts, &res)
	if err != nil {
		return res, fmt.Errorf("rollout step %d: %w", step, err)
	}
	res.Accepted = len(informative)
	if res.Accepted == 0 {
		return res, nil
	}
	if err := u.refer(ctx, informative); err != nil {
		return res, fmt.Errorf("rollout step %d: the phase's start: %w", step, err)
	}
	err = u.train(ctx, step, informative, &res)
	return res, err
}

// compare gives the training sequences of the rollouts in informative groups, an entry a rollout, in job order. A rollout in which nothing
// was sampled has none.
func (u *Update) compare(rollouts []*whale.Rollout, res *modelupdate.StepResult) ([][]whale.Sequence, error) {
	var out [][]whale.Sequence
	for from := 0; from < len(rollouts); from += u.Config.Group {
		group := rollouts[from:min(from+u.Config.Group, len(rollouts))]
		rewards := make([]float64, len(group))
		for i, r := range group {
			rewards[i] = r.Reward()
		}
		advantages := Advantages(rewards, u.GRPO.Normalise)
		if advantages == nil {
			res.Policy.Equal++
			continue
		}
		res.Policy.Informative++
		for i, r := range group {
			seqs, err := sequences(&r.Episode, float32(advantages[i]))
			if err != nil {
				return nil, fmt.Errorf("example %s, draw %d: %w", r.Key.Example, r.Key.Draw, err)
			}
			if len(seqs) > 0 {
				res.Sequences += len(seqs)
				out = append(out, seqs)
			}
		}
	}
	return out, nil
}

// sequences are an episode's training sequences that have something to train, with its advantage at every token.
func sequences(e *whale.Episode, advantage float32) ([]whale.Sequence, error) {
	all, err := rollout.PolicySequences(e)
	if err != nil {
		return nil, err
	}
	var out []whale.Sequence
	for _, s := range all {
		targets := 0
		s.Advantages = make([]float32, len(s.Tokens))
		for t, w := range s.Weights {
			if w != 0 {
				targets++
			}
			s.Advantages[t] = advantage
		}
		if targets > 0 {
			out = append(out, s)
		}
	}
	return out, nil
}

// refer scores all sequences under the weights at the phase's start, where they are held to them.
func (u *Update) refer(ctx context.Context, rollouts [][]whale.Sequence) error {
	if u.GRPO.KL == 0 {
		return nil
	}
	scorer, err := u.Reference(ctx)
	if err != nil {
		return err
	}
	var all []whale.Sequence
	for _, seqs := range rollouts {
		all = append(all, seqs...)
	}
	scores, err := scorer.Score(ctx, all)
	if err != nil {
		return err
	}
	if len(scores) != len(all) {
		return fmt.Errorf("got scores of %d sequences, want %d", len(scores), len(all))
	}
	for _, seqs := range rollouts {
		for i := range seqs {
			seqs[i].Reference, scores = scores[0], scores[1:]
		}
	}
	return nil
}

// train makes the passes over the informative rollouts in seeded order.
func (u *Update) train(ctx context.Context, step int, informative [][]whale.Sequence, res *modelupdate.StepResult) error {
	p := &res.Policy
	for _, mini := range u.Config.Minibatches(u.RunSeed, "grpo", step, len(informative)) {
		var batch []whale.Sequence
		for _, i := range mini.Items {
			batch = append(batch, informative[i]...)
		}
		if err := u.Trainer.Accumulate(ctx, mini.Op, batch, u.GRPO.Loss()); err != nil {
			return err
		}
		stats, err := u.Trainer.Step(ctx, mini.Op, u.Config.LearningRate)
		if err != nil {
			return err
		}
		n := float64(stats.Tokens)
		p.MeanRatio += n * stats.Policy.MeanRatio
		p.Clipped += n * stats.Policy.Clipped
		p.KL += n * stats.Policy.KL
		res.Updates++
		res.Loss = stats.Loss
		res.Tokens += stats.Tokens
	}
	n := float64(max(res.Tokens, 1))
	p.MeanRatio, p.Clipped, p.KL = p.MeanRatio/n, p.Clipped/n, p.KL/n
	return nil
}
