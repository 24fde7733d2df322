// Package updatetest holds what every ModelUpdate must do, as tests. TestUpdate runs in a little world that costs nothing: a task whose agent
// guesses, and a trainer that keeps what it is given. TestLearns trains a tiny language model.
package updatetest
