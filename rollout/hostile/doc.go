// Package hostile is a corpus of harness programs that try to hurt, cheat or stall a run, and the test that none of them can.
//
// Each file in testdata says in its first line what must become of it: the reason of the failed episode, or "rejected:" and the gate that it
// must not pass; "|" separates reasons where the system may choose. The programs run together, beside well-behaved ones that must all score
// (design, invariants 4 and 6), under one memory bound for the whole run.
package hostile
