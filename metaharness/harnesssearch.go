package metaharness

import "context"

// HarnessSearch looks for a better harness under fixed weights, in phases. It is a black box to the recipe (paper, section 1).
type HarnessSearch interface {
	// Run runs one phase, or the rest of it, and gives the accepted harness with how it was found.
	Run(ctx context.Context, p Phase) (Result, error)
}

var (
	_ HarnessSearch = (*Search)(nil)
	_ HarnessSearch = (*BestOfRandom)(nil)
)

// BestOfRandom is a control for [Search]: as many sessions of as many candidates, all of them edits of the phase's incoming harness that
// were drawn without evidence, and the best is accepted. Its proposer is expected to be of package metaharness/propose/random; whatever
// it is, its workspace holds no score, no trajectory and no program but the incoming one: only which programs were drawn before, so
// that none is drawn twice. Gates, evaluation, selection, journal and archive are those of Search.
type BestOfRandom struct {
	Config Config
	Deps   Deps
}

// Run runs one phase, or the rest of it, as [Search.Run] does.
func (b *BestOfRandom) Run(ctx context.Context, p Phase) (Result, error) {
	s := &Search{Config: b.Config, Deps: b.Deps, blind: true}
	return s.Run(ctx, p)
}
