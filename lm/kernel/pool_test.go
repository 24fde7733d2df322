package kernel

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestForRunsEachOnce(t *testing.T) {
	for _, size := range []int{0, 1, 2, 7} {
		p := NewPool(size)
		if got, want := p.Size(), max(size, 1); got != want {
			t.Errorf("NewPool(%d).Size(): got %d, want %d", size, got, want)
		}
		for _, n := range []int{-1, 0, 1, 2, 100} {
			ran := make([]atomic.Int32, max(n, 0))
			p.For(n, func(i int) { ran[i].Add(1) })
			for i := range ran {
				if got := ran[i].Load(); got != 1 {
					t.Errorf("size %d, n %d: iteration %d ran %d times", size, n, i, got)
				}
			}
		}
		p.Close()
	}
}

func TestNilPool(t *testing.T) {
	var p *Pool
	sum := 0
	p.For(5, func(i int) { sum += i })
	if sum != 10 || p.Size() != 1 {
		t.Errorf("got sum %d and size %d, want 10 and 1", sum, p.Size())
	}
	p.Close()
}

func TestForNestedAndConcurrent(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	var total atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 20 {
				p.For(6, func(int) {
					p.For(6, func(int) {
						p.For(3, func(int) { total.Add(1) })
					})
				})
			}
		})
	}
	callers.Wait()
	if got, want := total.Load(), int64(8*20*6*6*3); got != want {
		t.Errorf("got %d iterations, want %d", got, want)
	}
}

// Two iterations that wait for each other can only end if they run at the same time.
func TestForUsesTheWorkers(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	var meet sync.WaitGroup
	meet.Add(2)
	p.For(2, func(int) {
		meet.Done()
		meet.Wait()
	})
}

func TestForAfterClose(t *testing.T) {
	p := NewPool(4)
	p.Close()
	p.Close()
	var n atomic.Int64
	p.For(100, func(int) { n.Add(1) })
	if n.Load() != 100 {
		t.Errorf("got %d iterations, want 100", n.Load())
	}
}

func TestForPassesPanicsOn(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	for range 50 {
		mustPanic(t, "row 7: bad", func() {
			p.For(20, func(i int) {
				if i == 7 {
					panic("row 7: bad")
				}
			})
		})
	}
	var n atomic.Int64
	p.For(10, func(int) { n.Add(1) })
	if n.Load() != 10 {
		t.Errorf("after panics: got %d iterations, want 10", n.Load())
	}
}
