package recipe

import (
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// requireTrainable refuses a policy or a trainer that cannot do what weight phases need; nothing is approximated.
func requireTrainable(c whale.Capabilities, reduction string) error {
	switch {
	case c.Access != whale.TokenExact && c.Access != whale.TokenServer:
		return fmt.Errorf("policy: got token access %q, want %q or %q: weight phases train on the sampled ids", c.Access, whale.TokenExact, whale.TokenServer)
	case !c.LogProbs:
		return fmt.Errorf("policy: it returns no log-probabilities, and weight phases record them")
	case reduction != whale.ReductionTokens:
		return fmt.Errorf("trainer: got loss reduction %q, want %q: the loss of a weight phase is the mean over all trained tokens of a minibatch", reduction, whale.ReductionTokens)
	}
	return nil
}
