package recipe

import (
	"fmt"

	"github.com/seed-095d5d2b/whale/policy/local"
)

// The kinds of policies that a config may name. Not all of them run: a config for a service can be written, read and planned before its client is here.
const (
	PolicyLocal  = "local"  // the embedded engine: samples and trains on this machine
	PolicyOpenAI = "openai" // a server of OpenAI's protocol samples
	PolicyTinker = "tinker" // a training service of Tinker's protocol samples and trains
)

// policyKinds lists all of them, those that run first.
func policyKinds() []string { return []string{PolicyLocal, PolicyOpenAI, PolicyTinker} }

// runnable refuses a policy that can only be planned.
func (c PolicyConfig) runnable() error {
	if c.Kind == PolicyLocal {
		return nil
	}
	return &InputError{fmt.Errorf("policy.kind: got %s, which can be planned and not run: this build has no %s policy; it has %s (an embedded model: %v, a model folder, a .gguf file or an adapter folder; name one by --model)",
		c.Kind, c.Kind, PolicyLocal, local.EmbeddedModels())}
}
