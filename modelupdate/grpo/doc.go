// Package grpo is a ModelUpdate by policy gradient with advantages within groups: GRPO (DeepSeekMath, arXiv 2402.03300, section 4.1).
//
// A rollout step runs the same B×G episodes as every update (package modelupdate). The G episodes of one example are a group, and an
// episode's advantage is its reward less the group's mean, divided by the group's standard deviation where [Config] says so
// ([Advantages]). A group whose rewards are all the same says nothing and is left out; failed episodes have reward 0 like wrong ones. All
// trained tokens of an episode have its advantage, in each of its training sequences.
//
// [Update.Step] then makes passes over the informative rollouts in minibatches and descends the clipped loss of [whale.LossPPO], reduced as
// RSFT's is: the mean over all trained tokens of a minibatch (as in DAPO, arXiv 2503.14476, so that a token of a long episode counts as much
// as one of a short). Ratios are to the log-probabilities that the tokens had when they were sampled, of the full distribution at
// temperature 1, so that the first minibatch of a step has ratios of 1; another temperature or a truncation of the sampler (top-k, top-p) is
// not in them. With a weight on the divergence, the policy is held to the weights at its phase's start ([Update.Reference]).
//
// Nothing outlives a step but the trainer's state: a step that is made again from its recorded rollouts comes out the same.
package grpo
