package kernel

import (
	"testing"
	"time"
)

func TestStopwatchMeasuresTheUnion(t *testing.T) {
	at := time.Unix(0, 0)
	s := NewStopwatch(func() time.Time { return at })
	pass := func(seconds int) { at = at.Add(time.Duration(seconds) * time.Second) }
	want := func(seconds int) {
		t.Helper()
		if got := s.Elapsed(); got != time.Duration(seconds)*time.Second {
			t.Errorf("got %v, want %d s", got, seconds)
		}
	}
	pass(1)
	want(0) // nobody works
	a := s.Begin()
	pass(2)
	want(2)
	b := s.Begin()
	pass(4)
	want(6) // two at once count once
	a.End()
	pass(8)
	want(14)
	b.End()
	pass(16)
	want(14) // a gap
	c := s.Begin()
	pass(32)
	c.End()
	want(46)
}

func TestPoolMeasuresWork(t *testing.T) {
	var none *Pool
	none.Work().End() // a nil pool measures nothing
	p := NewPool(2)
	defer p.Close()
	p.Work().End()
	at := time.Unix(0, 0)
	s := NewStopwatch(func() time.Time { at = at.Add(time.Second); return at })
	early := p.Work()
	p.Measure(s)
	early.End() // began before: not counted, and does not unbalance the count
	p.Work().End()
	p.Measure(nil)
	p.Work().End()
	if got := s.Elapsed(); got != time.Second {
		t.Errorf("got %v, want the second between one begin and one end", got)
	}
}
