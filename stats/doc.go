// Package stats puts numbers beside their uncertainty: mean@k, intervals, paired tests.
//
// Rewards come as a matrix [examples][draws], each in [0, 1]. Draws of one example are not independent of each other, so every
// interval resamples whole examples (cluster bootstrap). All resampling is seeded: the same input gives the same numbers.
//
// Where data say nothing about their spread, intervals are wide instead of empty: a single example gives all that is
// possible, and examples that agree with each other give Wilson's interval for that many trials.
package stats
