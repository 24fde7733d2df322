package evolve

import "slices"

// ofPrompts keeps the edits of the prompts: all that a prompt-only search may do.
func ofPrompts(all []mutation) []mutation {
	return slices.DeleteFunc(all, func(m mutation) bool { return !slices.Contains(promptNames, m.target) })
}
