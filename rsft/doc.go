// Package rsft is ModelUpdate: online rejection-sampling fine-tuning (WHALE, section 2; paper's settings as presets in the examples).
//
// A rollout step takes the next B examples of an endless stream of seeded reshuffles ([Stream]), runs G episodes each under the frozen
// policy and the phase's harness, keeps those whose reward exceeds the threshold, and makes one SFT pass over them in minibatches
// ([Update.Step]). The loss is the mean over all trained tokens of a minibatch. An empty accepted set skips the update and is recorded.
package rsft
