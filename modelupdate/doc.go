// Package modelupdate is the weight half of a cycle: θ_{k+1} = ModelUpdate(θ_k; h_k, D_weight) (WHALE, section 2).
//
// The recipe knows a [ModelUpdate] only as something that makes one rollout step after the other: sample episodes under the frozen policy
// and the phase's harness, learn from them, and say what was done ([StepResult]). Which examples a step visits is the same whatever learns
// from them: positions of an endless [Stream] of seeded reshuffles, B of them a step with G episodes each ([Config.Jobs]), so that a phase
// is a span of steps that ends where [PhaseEnd] says. [Config.Sample] runs a step's episodes, [Config.Minibatches] orders what is learned
// from.
//
// Two updates are shipped: rsft, rejection-sampling fine-tuning, which is the paper's, and grpo, a policy gradient with group-relative
// advantages.
package modelupdate
