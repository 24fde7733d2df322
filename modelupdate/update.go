package modelupdate

import (
	"context"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/rollout"
)

// ModelUpdate makes rollout steps.
type ModelUpdate interface {
	// Step makes rollout step number step, counted from 0 over the whole run: it samples the step's episodes by the runner under its frozen
	// policy, and trains. The trainer's weights change; publishing and keeping them is the caller's. What it does follows from the run's seed,
	// the step's number, the weights and the rollouts alone, so that a step that is made again from its recorded rollouts comes out the same.
	// An error means that the step did not happen.
	Step(ctx context.Context, run *rollout.Runner, h whale.Harness, step int) (StepResult, error)
}

// StepResult is what one rollout step did. It is journaled: what a kind of update does not know is left out.
type StepResult struct {
	Step      int         `json:"step"` // counted from 0 over the whole run
	Rollouts  int         `json:"rollouts"`
	Accepted  int         `json:"accepted"`          // rollouts that were learned from
	Failed    int         `json:"failed"`            // in state failed: a rule or a limit was broken
	Failure   string      `json:"failure,omitempty"` // how the first of them failed
	Reward    float64     `json:"reward"`            // mean over the step's rollouts
	Sequences int         `json:"sequences"`
	Updates   int         `json:"updates"`         // optimiser steps; 0 where there was nothing to learn from
	Loss      float64     `json:"loss"`            // of the last update, a trained token
	Tokens    int         `json:"tokens"`          // trained tokens
	Policy    PolicyStats `json:"policy,omitzero"` // of a policy gradient; zero, and left out, where the loss is the likelihood
}

// PolicyStats is what a policy gradient knows of a step besides. The means are over the trained tokens of all updates; the divergence is
// from the phase's start.
type PolicyStats struct {
	Informative int `json:"informative"` // groups whose rewards differ
	Equal       int `json:"equal"`       // groups whose rewards are all the same: nothing to learn from
	whale.PolicyStats
}
