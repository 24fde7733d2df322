package main

import (
	"os"
	"testing"

	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Streams: process.Entries()}) {
		return // this process was a worker
	}
	os.Exit(m.Run())
}

// Each measurement runs both ways and gives a number.
func TestMeasurements(t *testing.T) {
	rt, err := process.Open(process.Options{Workers: 1, Concurrency: 4, Memory: 512 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	b := &bench{runtime: rt}
	for _, w := range []way{inProcess, inWorker} {
		for what, measure := range map[string]func() (float64, error){
			"call":    func() (float64, error) { return b.call(w, 2, 40, 0) },
			"rate":    func() (float64, error) { return b.rate(w, 2, 40) },
			"trivial": func() (float64, error) { return b.trivial(w, 4, 8) },
		} {
			if v, err := measure(); err != nil || v <= 0 {
				t.Errorf("%s, way %d: got %v, %v", what, w, v, err)
			}
		}
	}
	if got := spread([]float64{3, 1, 2}); got != [3]float64{2, 1, 3} {
		t.Errorf("got the spread %v", got)
	}
}
