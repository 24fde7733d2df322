// Package rollout runs episodes. It holds the one episode path of the project (design, invariant 1): training rollouts, candidate
// evaluation, test evaluation and single episodes for people all go through [Runner.Run].
//
//	Runner     many episodes at once, retries, cache by key
//	Slots      the places for episodes that several runners share
//	host       one episode's side of the harness contract: limits, tools, model calls, the record
//	Sequences  an episode's trajectory as training sequences, each sampled token once
package rollout
