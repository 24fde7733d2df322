package recipe

import (
	"context"
	"errors"
	"syscall"

	"github.com/seed-095d5d2b/whale"
)

// diskProposer tells a disk that cannot be written from a proposer that fails. The latter is a result, and is journaled; the former
// must stop the phase instead, or a run that met a full disk would go on to other decisions than one that did not.
type diskProposer struct {
	whale.Proposer
	stop context.CancelCauseFunc // ends the phase's context
}

func (p *diskProposer) Propose(ctx context.Context, s whale.Session) (whale.SessionCost, error) {
	cost, err := p.Proposer.Propose(ctx, s)
	for _, disk := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, disk) {
			p.stop(err)
			break
		}
	}
	return cost, err
}
