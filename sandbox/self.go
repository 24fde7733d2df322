package sandbox

import (
	"fmt"
	"os"
)

// thisProgram is the path under which this program can start itself now.
//
// Where its file was replaced or removed since it began, that is on Linux the file that it runs all the same: who builds a program anew while it
// runs must not get workers of another build, which may judge differently or not be workers at all.
func thisProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrStart, err)
	}
	running, err := os.Stat(runningFile)
	if err != nil {
		return self, nil // no /proc, or no Linux
	}
	if named, err := os.Stat(self); err != nil || !os.SameFile(named, running) {
		return runningFile, nil
	}
	return self, nil
}
