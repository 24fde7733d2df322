// Package conformance holds every way of running harnesses to the same behaviour: in process, in a worker, over a pipe in any language.
//
// [Cases] is a table of named behaviours. Each has a program in each language that does the same, a host with a scripted model, and what is
// to be seen of the episode from outside: the requests as the host saw them, the log, the answer or the reason of failure. [Run] runs the
// table; a language passes where nobody at the host can tell it from another.
package conformance
