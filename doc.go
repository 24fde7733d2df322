// Package whale holds the domain's vocabulary: the types and the few interfaces that every room of the project shares.
//
// An agent is a policy (model weights that sample) run by a harness (a program). One run of a harness on an [Example] of a
// [Task] is an [Episode]; kept as evidence, with its reward and cost, it is a [Rollout]. Whale alternates a weight phase, which
// trains the policy on its own verified rollouts, with a harness phase, which searches for a better harness program.
//
// How data passes through:
//
//	Example ──Task.View──▶ harness ──Request──▶ Host ──Messages──▶ Renderer ──ids──▶ Sampler
//	                          ▲                  │                                     │
//	                          └────Response──────┴──◀── Completion (ids, log-probabilities)
//	Episode ──Verifier──▶ Verdict ──▶ Rollout ──▶ Sequence (tokens, mask) ──▶ Trainer ──▶ WeightsRef
//
// Everything that is compared or cached is known by a content hash ([ID]); see [RolloutKey] for what makes two rollouts the same.
package whale
