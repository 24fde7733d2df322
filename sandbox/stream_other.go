//go:build !linux

package sandbox

import "os"

func pollable(f *os.File) *os.File { return f }

// nowWriter leaves every write to a goroutine.
func nowWriter(*os.File) func([]byte) (int, error) {
	return func([]byte) (int, error) { return 0, nil }
}
