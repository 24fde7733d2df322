// Package bitboard is a small, fast chess position: what the solver of generated puzzles and the reader of large puzzle files need, some
// twenty times faster than the general library on which the environment plays, and compared with it move for move in tests.
//
//   - [Parse] reads a FEN strictly: a position that no rules allow is an error, never a guess. [Position.FEN] writes it,
//     [Position.Key] gives the normal form by which positions are the same.
//   - [Position.Legal] lists the legal moves, [Position.Make] plays one, [Position.InCheck] and [Position.Mated] look at the result.
//   - [Move] is a move in sixteen bits; [ParseMove] reads UCI.
//
// A Position is a plain value of some eighty bytes: playing a move copies it, nothing is undone. Attacks of sliding pieces come from
// arithmetic on the occupied squares (hyperbola quintessence), so there are no tables and nothing happens at import.
package bitboard
