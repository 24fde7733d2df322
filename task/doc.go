// Package task holds what the tasks under it share: how text is normalised, how hashes decide splits that cannot overlap, and how
// the arguments of a tool call are checked.
//
// A task proper (task/math, task/searchqa, task/chess, task/custom) implements [whale.Task]: it offers examples by split, an
// environment an episode, and a verifier.
//
//   - [Normalize] is the one form in which texts are compared: duplicates are texts of the same normal form.
//   - [Buckets] assigns a text to a bucket by the hash of its normal form and nothing else. So two data sets made with different
//     seeds, sizes or settings still never share a text across buckets.
//   - [CheckArgs] validates what a model or a harness passes to a tool against its [whale.ToolSpec].
package task
