// Package math is the math domain (paper, section 2): problems with one exact answer, a calculator or Python, and a \boxed{} verifier.
//
// Problems come from one of two sources:
//
//   - [Generate] makes arithmetic and word problems of one or two steps from a seed. Each [Problem] carries its solution as data
//     ([Problem.Expressions]), from which a pre-training corpus can be written ([Generator.Pretrain]). Which split a problem may be
//     in is decided by the hash of its text, so no two splits share a problem, whatever the seeds and settings.
//   - [Load] reads files of real problems (DAPO-Math-17K, AIME, GSM8K, …). Repeats are dropped or refused, and splits without files can be drawn from the train files
//     ([DrawOptions]).
//
// [New] makes the task from a [Config]. An episode's environment has one tool, which runs code that the model wrote: the calculator, a part of Python with
// bounded steps, memory and time ([Sandboxed]); or Python itself, here or on a server (package sandbox/python). [OpenTool] gives the one that a config names. The verifier
// ([NewVerifier]) reads the last \boxed{…} of the final reply; strict, it compares integers as integers ("025" is 25) and everything else character by character; numeric, it
// compares numbers however they are written (package task/answer).
package math
