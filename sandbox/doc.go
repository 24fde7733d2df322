// Package sandbox runs code that nobody vouches for in worker processes, so that whatever it does to its process it does to
// nobody else.
//
// An interpreter bounds how long a program runs but not what one operation costs: a single list repetition can take
// gigabytes, and the Go runtime then ends the whole process. So every such interpreter runs behind an [Entry] in a worker:
// the same binary started again, with an empty environment, no descriptors but its pipes, and a limit on its memory.
//
// # The pieces
//
//   - [Main] is called first thing by the program (and by TestMain in tests). In a worker it serves requests and never
//     returns; in any other process it returns false at once.
//   - [Pool] keeps workers of one [Spec]. [Pool.Do] sends one request to one worker and returns the reply.
//   - [Group] keeps workers of one [StreamEntry], each with many streams at a time. [Group.Open] begins a stream, and [Conn] is the
//     parent's end of it: messages in both directions until the entry returns.
//   - [Violation] is the verdict that a request broke a limit. Everything else that Do returns is about the infrastructure
//     ([ErrStart], [ErrClosed], the context) or what the entry itself reported ([EntryError]).
//
// # How a verdict comes about
//
// A worker that dies or runs out of time is first an incident, which may have any cause: a busy machine, a neighbour, an
// operator. A request of a pool is then repeated once, alone (no other request of the pool runs meanwhile) and in a fresh
// worker. Only if it ends in an incident again it is at fault, as far as clocks and memory can tell: a machine that is too small or too
// busy for the limits looks the same, so an entry should count what its requests cost and leave these limits as guards. Limits that the entry checks itself, such as interpreter
// steps, are deterministic and need no repetition.
//
// A group cannot repeat a stream, since it does not know what was said. When a worker dies all its streams end with a
// [whale.Incident], and whoever opened them opens them again, each in a worker of its own ([whale.WithAlone]): only the one
// whose worker dies again is at fault. A worker is killed when it breaks the frames of its pipe, when it does not read, and when a stream that was
// given up does not end. A stream that sends more than it may, or that nobody reads, ends by itself.
//
// # Where isolation goes
//
// The parent's side of starting a process is in process_linux.go (process group, death signal; namespaces belong there),
// the worker's side in confine_linux.go (resource limits, descriptors; system-call and file filters belong there, after the
// limits and before the first request is read). A wrapper program can be put in front with [Options].Command.
package sandbox
