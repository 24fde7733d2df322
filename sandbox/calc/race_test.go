//go:build race

package calc

// raceDetector tells whether workers carry the race detector, whose shadow of the memory takes several times its size.
const raceDetector = true
