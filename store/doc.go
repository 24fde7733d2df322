// Package store keeps the directory of one run so that a kill at any moment loses nothing that was acknowledged.
//
// A [Run] is a directory with a journal (SQLite, write-ahead log, every commit synced), trajectory segments, and plain
// files written atomically. [Create] makes one, [Open] resumes one under an exclusive lock, [OpenReadOnly] looks at one
// while another process works in it.
//
// # What is kept where
//
//   - Events are the decisions of a run in order: [Run.Append] gives each a sequence number, and an operation id
//     makes repeating it harmless.
//   - Rollouts are rows keyed by content; each refers to its trajectory, one JSON line compressed as a zstd frame of its
//     own in trajectories/NNNNNN.jsonl.zst ([Run.PutRollout], [Run.Trajectory]). The segments are plain zstd files:
//     zstdcat prints JSON lines.
//   - The ledger adds up what was spent by purpose and counter ([Run.Charge], [Run.Ledger]).
//   - Files are replaced whole or not at all ([Run.WriteFile]); harness sources and weights directories are written once
//     under their id ([Run.PutHarness], [Run.WriteWeights], or in two halves [Run.StageWeights] and [StagedWeights.Seal]).
//
// # How a write becomes durable
//
// All journal writes pass through one goroutine that the Run owns. It takes whatever is waiting, appends the trajectory
// frames to the segment, syncs it, and only then commits the rows that point at them, so a row never refers to bytes that
// might be missing. Bytes after the last committed frame are a torn tail; [Open] cuts them off. [Batch] groups several
// writes into one that happens whole or not at all.
//
// [Run.Commit] and the methods named above wait for that. [Run.Post] does not: what is posted joins an open group, which is committed
// when somebody waits for anything in it or after it, or when it is old (a tenth of a second) or large. [Run.Sync] waits for all that was
// posted. The order of calls is kept, so an event that was committed never stands on rollouts that are missing; a posted write that is
// lost fails everything after it.
//
// Errors that a caller decides on are the Err values of this package, to be tested with errors.Is.
package store
