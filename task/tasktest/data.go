// Package tasktest is for tests of tasks on real data.
package tasktest

import (
	"os"
	"path/filepath"
	"testing"
)

// Data is the folder with real files; a test is skipped where WHALE_TESTDATA does not name one. A relative path counts from the module's root, of which the
// test's package is levels folders below, since tests run in their package's folder.
func Data(t testing.TB, levels int) string {
	t.Helper()
	dir := os.Getenv("WHALE_TESTDATA")
	if dir == "" {
		t.Skip("WHALE_TESTDATA is not set")
	}
	if filepath.IsAbs(dir) {
		return dir
	}
	for range levels {
		dir = filepath.Join("..", dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
