// Package metaharness is [HarnessSearch]: it looks for a better harness program under fixed weights (paper, section 1). [Search] does so
// by an archive that proposers read (Meta-Harness, arXiv 2603.28052); [BestOfRandom] is a control whose proposer sees no result.
//
// A Search runs one harness phase. Its archive starts with the incoming harness, evaluated first, and with the runners-up of earlier
// phases, scored anew under the phase's weights. Then come proposer sessions: each gets a fresh workspace that holds a copy of the
// archive ([Phase].SessionDir), writes at most M candidates there, and ends. The candidates are copied out of the workspace
// ([Collect]), the session is journaled ([SessionRecord]), each candidate passes the gates or is rejected with a text that the next
// session reads ([Decision]), and what passes is evaluated on all examples; several candidates side by side ([Config].AtOnce), but
// decided in order. The best complete score of the whole archive is the accepted harness, unless [Selection] asks for more than a best
// score: a paired test against what was accepted, or fresh episodes of the best few. Selection can also have hopeless candidates
// stopped before they have run all examples.
//
//	archive/<phase>/ ──copy──▶ sessions/<n>/ ──Proposer──▶ candidates/*.star ──Collect──▶ SessionRecord ──gates──▶ Evaluator
//	      ▲                                                                                                       │
//	      └──────────────────────── harnesses/<id>/, index.jsonl ◀──────────────── Decision ◀─────────────────────┘
//
// Three rules hold throughout. A proposer sees examples as numbers 1..n with what the agent saw, and never an id, a split, an answer
// or the verifier. A score belongs to the weights it was measured under, and only a complete set of examples has one. Every step that
// costs something or decides something is looked up in the [Log] before it is taken and recorded when it is done, so that a phase
// killed anywhere and run again makes the same decisions.
package metaharness
