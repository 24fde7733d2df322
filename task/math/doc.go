// Package math is the math domain (paper, section 2): problems with one exact answer, a calculator, and the strict \boxed{} verifier.
//
// Problems come from one of two sources:
//
//   - [Generate] makes arithmetic and word problems of one or two steps from a seed. Each [Problem] carries its solution as data
//     ([Problem.Expressions]), from which a pre-training corpus can be written ([Generator.Pretrain]). Which split a problem may be
//     in is decided by the hash of its text, so no two splits share a problem, whatever the seeds and settings.
//   - [Load] reads JSONL files of real problems (AIME, GSM8K, …).
//
// [New] makes the task from a [Config]. An episode's environment has one tool, the calculator: Python-syntax code that the model
// wrote, run by a [Calculator] that bounds steps, memory and time ([Sandboxed]). The verifier ([NewVerifier]) reads the last \boxed{…} of the
// final reply; integers are compared as integers ("025" is 25), everything else character by character.
package math
