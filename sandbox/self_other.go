//go:build !linux

package sandbox

// runningFile has no name here.
const runningFile = ""
