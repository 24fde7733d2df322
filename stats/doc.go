// Package stats puts numbers beside their uncertainty: mean@k, intervals, paired tests.
//
// Rewards come as a matrix [examples][draws]. Draws of one example are not independent of each other, so every interval resamples whole
// examples (cluster bootstrap). All resampling is seeded.
package stats
