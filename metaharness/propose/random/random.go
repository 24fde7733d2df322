// Package random is the proposer of a control: it draws random edits of the incoming harness, from the catalogue of edits of package
// evolve, and looks at no score and no trajectory. Package metaharness gives it workspaces that have none (BestOfRandom).
package random

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness/propose/evolve"
)

// version changes with what decides proposals, so that runs before and after are told apart.
const version = 1

// Proposer draws candidates. It holds no state: sessions depend on their workspace and seed alone.
type Proposer struct{}

// New makes a proposer.
func New() *Proposer { return &Proposer{} }

var _ whale.Proposer = (*Proposer)(nil)

// Name is "random".
func (*Proposer) Name() string { return "random" }

// ID is the content hash of the proposer's version and of the catalogue's.
func (*Proposer) ID() whale.ID {
	return whale.HashOf("proposer", []any{"random", version, evolve.New().ID()})
}

// Propose writes up to s.Candidates programs, none of which the workspace's index names. It costs no tokens and no money.
func (*Proposer) Propose(ctx context.Context, s whale.Session) (whale.SessionCost, error) {
	cost, err := evolve.Blind(ctx, s)
	if err != nil {
		return cost, fmt.Errorf("random: %w", err)
	}
	return cost, nil
}
