// Package sandbox runs code that nobody vouches for in worker processes, so that whatever it does to its process it does to
// nobody else.
//
// An interpreter bounds how long a program runs but not what one operation costs: a single list repetition can take
// gigabytes, and the Go runtime then ends the whole process. So every such interpreter runs behind an [Entry] in a worker:
// the same binary started again, with a limit on its memory and nothing that it could reach. Programs in other languages run as a
// [Command].
//
// # The pieces
//
//   - [Main] is called first thing by the program (and by TestMain in tests). In a worker it serves requests and never
//     returns, and neither does it on the way to a foreign program; in any other process it returns false at once.
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
// # What confines a worker
//
// [Probe] tries which of the mechanisms this system has, each worker tells which are in force for it, and [Options].Require and
// [GroupOptions].Require refuse to go on without one; what a system lacks is left out otherwise. They overlap on purpose: all of them close what
// matters most (files, the network, other processes), so that one that is missing opens nothing by itself.
//
//   - process: an empty environment, no descriptors but three pipes, no capabilities, no new privileges; it dies with its parent.
//   - memory limit: address space and writable memory over what the worker has at its start.
//   - landlock: no files, no TCP, no abstract sockets, no signals or tracing of other processes.
//   - seccomp: an allow-list of the system calls that a running Go program makes; any other fails with EPERM.
//   - namespaces: its own users, processes, network, IPC, host name, and files, of which it has none but its program and libraries, read-only.
//
// A worker gets there in two stages, being executed twice (confine_linux.go says why). A wrapper program can be put in front with
// [Options].Command; it runs in the namespaces, as a user that is not mapped yet.
//
// # Foreign programs
//
// [StartCommand] runs a [Command], a program in any language, under bubblewrap, with a filter of system calls and limits like a worker's. There
// is no choice of mechanisms: where one is missing the command does not start. What cannot be limited from outside is the number of
// threads: it is bounded by the address space that each takes.
package sandbox
