// Package policy holds the policies and trainers that whale can drive, one sub-package an engine:
//
//	policy/chat    chat templates of model families, rendered natively
//	policy/local   the embedded language model of package lm, sampling and training in this process
//
// A policy is a [whale.Renderer] and a [whale.Sampler] that belong together; a trainer publishes new policies. Each declares what it can
// do ([whale.Capabilities]), and a recipe that needs more is refused.
package policy
