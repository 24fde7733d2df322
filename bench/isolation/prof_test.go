package main

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Streams: process.Entries()}) {
		return
	}
	os.Exit(m.Run())
}

func TestCurve(t *testing.T) {
	rt, err := process.Open(process.Options{Workers: 2, Concurrency: 32, Memory: 512 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	b := &bench{runtime: rt}
	b.warm(32)
	for _, think := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 8 * time.Millisecond} {
		for _, at := range []int{1, 2, 4, 8, 16, 32} {
			v, err := b.call(inWorker, at, at*50, think)
			fmt.Printf("think %v at %d: %.1f %v\n", think, at, v, err)
		}
	}
}
