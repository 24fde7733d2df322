// Package chess is the chess puzzle domain (paper, section 2): positions with one winning line, a board that keeps state and answers with a fixed
// reply, and a verifier that asks for every move of the line.
//
// # Data
//
// A [Puzzle] is a position, the move that led to it where that is known, and a line: the solver's move, the opponent's reply, the solver's move, …
//
//   - [Generator] makes puzzles from random legal play with an exact solver: mates in one and two, and wins of material, each with exactly one
//     right first move (solver.go says what that means).
//   - A Lichess puzzle file (CSV, plain or compressed) is streamed; filters and a seeded sample decide which rows are kept, in memory that does not
//     grow with the file (sample.go).
//
// Which split a position may be in is decided by the hash of its normal form, so no two splits share one.
//
// # An episode
//
// The harness shows the position by env.render, which offers it in several forms (blocks.go), and plays by the tool "move" with one UCI move,
// which must be a span of the model's latest reply. Moves and squares are declared patterns (rules.go): text of the harness may hold them only inside
// whole blocks. The game (game.go) takes the move: the line's move is played and answered; another legal move ends the episode; what is
// illegal or no move at all is a mistake, of which there may be some (config.go). The verifier plays the episode's tool calls again on the same game.
//
// The board of the environment is github.com/corentings/chess/v2; package bitboard is the fast one of solver and loader.
package chess
