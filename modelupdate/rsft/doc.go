// Package rsft is online rejection-sampling fine-tuning, the paper's ModelUpdate (WHALE, section 2; its settings as presets in the examples).
//
// A rollout step runs the step's B×G episodes (package modelupdate) under the frozen policy and the phase's harness, keeps those whose
// reward exceeds the threshold, and makes SFT passes over them in minibatches ([Update.Step]). The loss is the mean over all trained tokens
// of a minibatch. An empty accepted set skips the update and is recorded.
package rsft
