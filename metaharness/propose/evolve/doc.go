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
// A mutation is a small edit of the source text at the span of a syntax node, so that formatting and comments stay: an integer, a choice
// or a boolean ([constants.go]), a sentence of a prompt, a keyword argument of a library function, a function or constant taken over from
// another archived program. An axis is a side of the harness that evidence points to: turns, answer format, tool use, brevity, recovery.
// Of a session's candidates the first exploits (one edit of the best program along the best supported axis), the second combines (two or
// three edits), the third explores; then again.
//
// Proposals depend on the workspace and the session's seed alone. Every product parses and resolves, and no program is proposed that
// the workspace shows already.
package evolve
