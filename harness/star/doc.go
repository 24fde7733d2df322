// Package star runs harness programs written in Starlark: contract version 1.
//
// Vocabulary. A [Program] is a harness that passed the gates parse, resolve and contract ([Load]); it holds no state, so that any number
// of episodes may run it at once. An episode is one [Program.Run]: it executes the file's top level and then calls run(task, model, env),
// on a thread and with globals of its own. A reply is a value that stands for sampled token ids; the program holds a reference, and never
// the ids. The library is what a program finds without importing it: the modules re, json, math, text, chat and loop.
//
// How data passes through:
//
//	source ──Load──▶ Program ──Run──▶ episode ──whale.Request──▶ whale.Host
//	                                     ▲                          │
//	                                     └──────whale.Response──────┘
//
// The program knows the world only through its host, in messages that JSON can carry; nothing else enters an episode, neither time nor
// chance. The same program with the same answers makes the same requests and uses the same number of steps.
//
// What may go wrong has three kinds: a program that is no harness ([Errors], from Load), a failure of the episode
// (*[whale.HarnessError]: the program raised an error, broke a limit or returned something foreign), and everything else, which is the
// infrastructure's and passes through unchanged.
//
// The tables in this package ([Library]) are the only list of the library's functions: they bind the arguments, say what is wrong with
// them, and generate the reference ([Reference]) and the catalogue that a proposer reads. The module loop is written in Starlark
// (loop.star); its docstrings are its table.
//
// Starlark alone bounds neither memory nor one big operation. Programs that nobody vouches for belong in a worker process with a memory
// limit; the bounds here (steps, depth, sizes of patterns and of values sent to the host) keep honest mistakes small.
package star
