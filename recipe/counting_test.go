package recipe

import (
	"reflect"
	"testing"
)

func TestCountings(t *testing.T) {
	six := Counting{Sessions: 6, Candidates: 3, Examples: 256, Paper: 4608, Launcher: 4096}
	for _, tc := range []struct {
		what   string
		change func(*Schedule)
		want   []Counting
	}{
		{"the paper's main setting", func(*Schedule) {}, []Counting{six}},
		{"its launcher's sessions", func(s *Schedule) { s.Sessions = 5 }, []Counting{{Sessions: 5, Candidates: 3, Examples: 256, Paper: 3840, Launcher: 256 + 4*768}}},
		{"no harness phase", func(s *Schedule) { s.Method = MethodWeightOnly }, []Counting{}},
		{"harness-only", func(s *Schedule) { s.Method = MethodHarnessOnly }, []Counting{{Sessions: 60, Candidates: 3, Examples: 256, Paper: 46080, Launcher: 256 + 59*768}}},
		{"adaptive", func(s *Schedule) { s.Method = MethodAdaptive }, []Counting{six, {Sessions: 15, Candidates: 3, Examples: 256, Paper: 11520, Launcher: 256 + 14*768}}},
		{"cycles of two sizes", func(s *Schedule) { s.Cycles = []CycleConfig{{0.6, 6}, {0.6, 1}, {0.6, 6}} }, []Counting{six, {Sessions: 1, Candidates: 3, Examples: 256, Paper: 768, Launcher: 256}}},
	} {
		c := Default()
		tc.change(&c.Schedule)
		p, err := MakePlan(c, Counts{Train: 17917, Search: 256, Test: 60})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Countings(); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: got %+v, want %+v", tc.what, got, tc.want)
		}
	}
}
