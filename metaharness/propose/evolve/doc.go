// Package evolve is a proposer without a language model: it writes candidate programs by editing archived ones.
//
// Its whole knowledge of the task is its workspace: README.md, index.jsonl, library.json and harnesses/ (package metaharness has
// the formats). A session goes
//
//	readWorkspace ─▶ evidence (why episodes fail) ─▶ weights of axes ─┐
//	     │                                                          ├─▶ choose ─▶ splice ─▶ check ─▶ candidates/
//	     └────▶ parent program ─▶ every possible edit (mutations) ───┘
//	                 bandit (what edits paid off before) ────────────┘
//
// A mutation is an edit of the source text at the spans of syntax nodes, so that formatting and comments stay. A small one is an integer, a
// choice or a boolean ([constants.go]), a sentence of a prompt, a keyword argument of a library function, a function or constant taken over from
// another archived program. A technique ([techniques.go]) is what an engineer would do about a kind of failure, in as many places as it takes: bound
// replies, ask again for what they lack in a loop of the program's own, ask a tool for names instead of sentences or before the model is asked, show
// whole and better results, turn on what the task can show. Techniques are found from evidence that holds for any task: which replies
// are cut, what reasons of failure and prompts name, what is passed to tools and what comes back ([tool.go]). An axis is a side of the
// harness that evidence points to: turns, answer format, tool use, brevity, recovery.
//
// A search begins with large steps: the first session rebuilds the incoming program with every technique that evidence speaks for, and with
// some of them. Later sessions have a candidate that exploits (one edit of the best program along the best supported axis), one that combines
// (two or three edits) or rebuilds, one that explores; then again. A prompt-only search edits prompts alone.
//
// Proposals depend on the workspace and the session's seed alone. Every product parses and resolves, and no program is proposed that
// the workspace shows already.
package evolve
