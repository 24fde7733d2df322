// Package calc is a calculator for models: it evaluates an expression or a short program in Python's syntax and returns what
// Python would have printed, or one line that says what is wrong and where.
//
// A source passes through these steps, all in [Eval]:
//
//	source ─ tokens ─ translate ─ Starlark syntax tree ─ rewrite ─ interpreter ─ text
//
// Starlark is Python's syntax without `**`, imports and some of its arithmetic. So translate works on tokens: it turns
// `a ** b` into a call with Python's precedence and drops `import math`. rewrite works on the tree: arithmetic operators
// become calls of the functions in arith.go, which follow Python where Starlark does not (true division of big
// integers, floor division and modulo of floats, shifts) and refuse results that have no bound. The value of a last
// statement that is an expression is printed too.
//
// The interpreter bounds steps, output and source, but a single operation can still take gigabytes; models write such
// things. So [Calculator] runs programs in workers of package sandbox ([Entry] is what they serve), except pure arithmetic
// of a few literals, which cannot grow and gives the same bytes either way.
//
// Differences from Python that remain: no f-strings, classes, exceptions or chained comparisons (each a clear error),
// printed integers have at most 4300 digits, recursion goes 1000 deep, trigonometric functions may differ in the last bit.
package calc
