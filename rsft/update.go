package rsft

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
)

// Config are the settings of the weight phase. Defaults in parentheses are the paper's.
type Config struct {
	Batch        int     `yaml:"batch" json:"batch"`                 // examples a step, B (256)
	Group        int     `yaml:"group" json:"group"`                 // rollouts an example, G (8)
	Minibatch    int     `yaml:"minibatch" json:"minibatch"`         // accepted rollouts an optimiser step (64)
	Passes       int     `yaml:"passes" json:"passes"`               // SFT passes over the accepted set (1)
	Accept       float64 `yaml:"accept" json:"accept"`               // keep rewards above this (0.5)
	LearningRate float64 `yaml:"learning_rate" json:"learning_rate"` // (1e-7 at 2B parameters)
}

// Validate names the first setting that makes no sense.
func (c Config) Validate() error {
	for _, k := range []struct {
		name string
		v    int
	}{{"batch", c.Batch}, {"group", c.Group}, {"minibatch", c.Minibatch}, {"passes", c.Passes}} {
		if k.v < 1 {
			return fmt.Errorf("weight.%s: got %d, want 1 or more", k.name, k.v)
		}
	}
	if c.Accept < 0 || c.Accept >= 1 {
		return fmt.Errorf("weight.accept: got %g, want a threshold in [0, 1)", c.Accept)
	}
	if c.LearningRate <= 0 {
		return fmt.Errorf("weight.learning_rate: got %g, want more than 0", c.LearningRate)
	}
	return nil
}

// StepResult is what one rollout step did.
type StepResult struct {
	Step      int     `json:"step"` // counted from 0 over the whole run
	Rollouts  int     `json:"rollouts"`
	Accepted  int     `json:"accepted"`
	Failed    int     `json:"failed"`            // in state failed: a rule or a limit was broken
	Failure   string  `json:"failure,omitempty"` // how the first of them failed
	Reward    float64 `json:"reward"`            // mean over the step's rollouts
	Sequences int     `json:"sequences"`
	Updates   int     `json:"updates"` // optimiser steps; 0 where nothing was accepted
	Loss      float64 `json:"loss"`    // of the last update, nats a trained token
	Tokens    int     `json:"tokens"`  // trained tokens
}

// Update makes rollout steps.
type Update struct {
	Config   Config
	Trainer  whale.Trainer
	Examples []whale.Example // D_weight
	RunSeed  uint64
}

// Step makes rollout step number step: sample under the runner's frozen policy, accept, train. The trainer's weights change; publishing them
// is the caller's.
func (u *Update) Step(ctx context.Context, run *rollout.Runner, h whale.Harness, step int) (StepResult, error) {
	rollouts, err := run.Run(ctx, u.jobs(h, step))
	if err != nil {
		return StepResult{}, err
	}
	if err := rollout.Complete(rollouts); err != nil {
		return StepResult{}, fmt.Errorf("rollout step %d: %w", step, err)
	}
	res := StepResult{Step: step, Rollouts: len(rollouts)}
	var accepted [][]whale.Sequence // an entry a rollout, in job order
	for _, r := range rollouts {
		res.Reward += r.Reward() / float64(len(rollouts))
		if f := r.Episode.Failure; r.State == whale.StateFailed && f != nil {
			if res.Failed++; res.Failed == 1 {
				res.Failure = string(f.Reason) + ": " + f.Detail
			}
		}
		if r.Reward() > u.Config.Accept {
			seqs := rollout.Sequences(&r.Episode)
			res.Sequences += len(seqs)
			accepted = append(accepted, seqs)
		}
	}
	res.Accepted = len(accepted)
	return res, u.train(ctx, step, accepted, &res)
}

// jobs lists the step's B×G episodes: for each visit G draws, numbered on from the draws of earlier visits.
func (u *Update) jobs(h whale.Harness, step int) []rollout.Job {
	c := u.Config
	stream := Stream{N: len(u.Examples), Seed: u.RunSeed}
	var jobs []rollout.Job
	for _, v := range stream.At(step*c.Batch, c.Batch) {
		for g := range c.Group {
			jobs = append(jobs, rollout.Job{
				Harness: h, Example: u.Examples[v.Example], Split: whale.SplitTrain, Purpose: whale.PurposeWeight, Draw: v.Epoch*c.Group + g,
			})
		}
	}
	return jobs
}

// train makes the SFT passes over the accepted set in seeded order.
func (u *Update) train(ctx context.Context, step int, accepted [][]whale.Sequence, res *StepResult) error {
	c := u.Config
	for pass := range c.Passes {
		op := fmt.Sprintf("step/%d/pass/%d", step, pass)
		seed := whale.DeriveSeed(u.RunSeed, "sft", strconv.Itoa(step), strconv.Itoa(pass))
		order := rand.New(rand.NewPCG(u.RunSeed, uint64(seed))).Perm(len(accepted))
		for from := 0; from < len(order); from += c.Minibatch {
			var batch []whale.Sequence
			for _, i := range order[from:min(from+c.Minibatch, len(order))] {
				batch = append(batch, accepted[i]...)
			}
			mini := fmt.Sprintf("%s/minibatch/%d", op, from/c.Minibatch)
			if err := u.Trainer.Accumulate(ctx, mini, batch); err != nil {
				return err
			}
			stats, err := u.Trainer.Step(ctx, mini, c.LearningRate)
			if err != nil {
				return err
			}
			res.Updates++
			res.Loss = stats.Loss
			res.Tokens += stats.Tokens
		}
	}
	return nil
}
