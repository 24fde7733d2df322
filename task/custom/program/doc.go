// Package program runs the programs of a task's owner, one process a call: text on standard input, text from standard output.
//
// The owner vouches for them, but not for what a model may make them do: a call has a deadline, its output a bound, and when it is over nothing of
// the program's process group is left. [Spec].Sandboxed runs a program under bubblewrap instead, without network and files of this system.
//
// [Run] tells apart what a caller has to treat differently: a program that ended by itself, with its exit status ([Output]); one that was stopped or died
// ([Stopped]); one that never ran ([StartError]).
package program
