// Package updatetest is what every ModelUpdate must do (TestUpdate), and a little world to do it in: a task whose agent guesses whether a
// number is even, which costs nothing, and a trainer that keeps what it is given.
package updatetest
