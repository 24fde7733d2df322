// Package process runs harness programs in processes of their own, so that nothing they do reaches the run, its secrets or each other.
//
// Vocabulary. A program speaks with its host in messages: JSON objects, one a line over a pipe ([Protocol] is their version; [Reference]
// documents every message, generated from the tables that the decoder uses). The host loop ([serve]) is the parent's side of one episode: it
// sends the start, answers requests one at a time, and ends with an answer, a failure or an error. A transport carries the messages: a stream
// of a worker for Starlark, the pipes of a process for other languages. A [Runtime] owns the processes; [Runtime.New] makes a
// [whale.Harness] that runs in them.
//
// How data passes through:
//
//	rollout ──▶ whale.Harness.Run ──▶ serve ──start, response──▶ transport ──▶ worker: star.Program.Run
//	                                    ▲                            │           or a process: python, node
//	             whale.Host.Do ◀────────┴──request, print, answer, failure──┘
//
// Starlark programs share workers: the same binary, started again, confined by package sandbox; many episodes at once in each. Their messages
// are written by our own interpreter, so a message that is none means that the worker is broken. Programs in other languages get a fresh
// process an episode, and write their own messages: whatever they send is checked here, and what is no message fails the episode.
//
// What Run returns is of four kinds, as [whale.Harness] asks: a *[whale.HarnessError] is the program's failure, a *[whale.Incident] the death
// of its process, the context's error a cancellation, and everything else the infrastructure's.
package process
