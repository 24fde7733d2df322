package process

import (
	"context"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// starlark is a Starlark program that runs in a worker. What it is, its gates and its identity are the program's own.
type starlark struct {
	*star.Program
	runtime *Runtime
	session session
}

var _ whale.Harness = (*starlark)(nil)

func newStarlark(r *Runtime, p *star.Program) *starlark {
	return &starlark{Program: p, runtime: r, session: session{
		name: p.Name(), worker: true, program: &ProgramRef{ID: p.ID(), Name: p.Name()}, source: p.Source(),
	}}
}

// Run implements [whale.Harness]. It gives what [star.Program.Run] gives, and besides an *[whale.Incident] where the worker dies.
func (s *starlark) Run(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
	group, err := s.runtime.workers()
	if err != nil {
		return 0, err
	}
	conn, err := group.Open(ctx)
	if err != nil {
		return 0, err
	}
	return serve(ctx, conn, h, s.session)
}
