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
// integers, floor division and modulo of floats, shifts) and refuse results that have no bound. So do comparisons (compare.go),
// subscripts, attributes and methods (access.go, methods.go), and all functions (universe.go). The value of a last
// statement that is an expression is printed too.
//
// # What a program may use
//
// The interpreter counts its steps, but a single operation can take seconds and gigabytes; models write such things. So everything
// that rewrite and the builtins bring in charges a machine (meter.go) first, by the sizes of its operands: steps for time (cost.go,
// size.go) and bytes for memory. A verdict is then the program's own, the same on every machine under any load, and with a million
// steps it comes within some tenths of a second. [Calculator] still runs programs in workers of package sandbox ([Entry] is what
// they serve), as a guard, except pure arithmetic of a few literals, which cannot grow and gives the same bytes either way.
//
// Differences from Python that remain: no f-strings, classes, exceptions or chained comparisons (each a clear error),
// True and 1 are different keys of a dict, strings are counted and cut in bytes, printed integers have at most 4300 digits, recursion
// goes 1000 deep at most (less in functions of many variables), trigonometric functions may differ in the last bit.
package calc
