package process

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Streams: Entries()}) {
		return // this process was a worker
	}
	goleak.VerifyTestMain(m)
}
