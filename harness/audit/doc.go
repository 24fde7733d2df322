// Package audit reads candidate harness programs for what they should not hold: questions, answers and names of the examples on which
// they will be measured. Nothing is executed.
//
// Vocabulary. A [Corpus] is the index of a set of examples: word sequences, answers, number sequences, ids and names, with how common
// each of them is. An atom is a constant of a program: a literal, or what the program can compute from literals alone, or what one of the
// usual encodings makes of either. A table is a constant list, dict or text of several rows. A test is a place where text that the
// program did not write itself (the task's, or the model's) is compared with constants, or looked up among them. A [Finding] names the
// place of one of these and the rule that it breaks ([Rules]).
//
// How data passes through:
//
//	examples ──NewCorpus──▶ Corpus
//	source ──parse──▶ tree ──follow──▶ atoms, tables, tests ──rules, against the Corpus──▶ findings
//
// To follow a program means to evaluate it with everything unknown that comes from outside. Constants are computed exactly (concatenation,
// join, format, chr, slices, loops over constants, the program's own helper functions), within a budget of steps and bytes; a value
// made of the task's text remembers how (its lower case, its third word, its length, its hash), so that a comparison can be weighed
// against the examples: one that holds for many of them is an ordinary branch, one that singles out a few is not.
//
// Much of what stands in a program is also in some example by chance, and more so the more examples there are. So nothing is found on
// account of one small number, one ordinary word or one famous name: each rule asks how likely its evidence is in a program that knows no
// example. Word sequences that many examples share (the frame of a template) count as nobody's.
//
// Python and JavaScript are looked at by their literals alone, with a small lexer; what such programs compute is not followed.
//
// What this package does not find, because it cannot be told from honest work by reading: a program that computes the answer itself from
// the text of the question. There the remedy is the runtime's: an answer is a reply of the model, and authored arguments are spans of
// its latest completion. An audit is a filter, not a proof: a program that spreads its knowledge thinly enough, or hides it in prose of its
// own wording, passes.
package audit
