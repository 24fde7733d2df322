package main

import (
	"testing"
	"time"
)

const someTraces = `File: profile
Type: cpu
Duration: 1s, Total samples = 1s
-----------+-------------------------------------------------------
      20ms   runtime.memmove
             github.com/seed-095d5d2b/whale/lm/kernel.(*Kernels).gemm
             github.com/seed-095d5d2b/whale/lm.(*batch).step
-----------+-------------------------------------------------------
     1.50s   syscall.Fsync
             modernc.org/sqlite.(*conn).step
             github.com/seed-095d5d2b/whale/store.(*writer).commit
             github.com/seed-095d5d2b/whale/recipe.(*Run).Execute
-----------+-------------------------------------------------------
      10ms   github.com/seed-095d5d2b/whale/task/math.Keys[go.shape.map[string]encoding/json.RawMessage]
-----------+-------------------------------------------------------
      30ms   runtime.scanobject
             runtime.gcBgMarkWorker
-----------+-------------------------------------------------------
      70ms   runtime.Stack
             main.(*wallSampler).look
-----------+-------------------------------------------------------
      40ms   runtime.futex
`

func TestShare(t *testing.T) {
	want := map[string]time.Duration{
		engine: 20 * time.Millisecond, "store": 1500 * time.Millisecond, "task/math": 10 * time.Millisecond,
		"Go's garbage collector": 30 * time.Millisecond, "Go's runtime and the rest": 40 * time.Millisecond,
	}
	got := share([]byte(someTraces))
	for part, d := range want {
		if got[part] != d {
			t.Errorf("%s: got %v, want %v", part, got[part], d)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLook(t *testing.T) {
	s := &wallSampler{outside: map[string]int{}}
	s.look("goroutine 1 [running]:\nmain.look()\n\tx.go:1\n\ngoroutine 2 [runnable]:\ngithub.com/seed-095d5d2b/whale/lm.(*batch).step(0x1)\n\tx.go:1\n")
	s.look("goroutine 1 [running]:\nmain.look()\n\tx.go:1\n\ngoroutine 2 [syscall]:\nsyscall.Fsync(0x1)\n\tx.go:1\ngithub.com/seed-095d5d2b/whale/store.(*writer).commit(0x1)\n\tx.go:1\n")
	s.look("goroutine 1 [running]:\nmain.look()\n\tx.go:1\n\ngoroutine 2 [select]:\ngithub.com/seed-095d5d2b/whale/lm.(*Generator).Generate(0x1)\n\tx.go:1\n")
	s.look("goroutine 1 [running]:\nmain.look()\n\tx.go:1\n\ngoroutine 3 [syscall]:\nsyscall.Syscall6(0x1)\n\tx.go:1\ngithub.com/seed-095d5d2b/whale/sandbox.awaitExit(0x1)\n\tx.go:1\n\n" +
		"goroutine 2 [syscall]:\nsyscall.Fsync(0x1)\n\tx.go:1\ngithub.com/seed-095d5d2b/whale/store.(*writer).commit(0x1)\n\tx.go:1\n")
	if s.samples != 4 || s.busy != 1 || s.outside["store"] != 2 || len(s.outside) != 2 {
		t.Errorf("got %d samples, %d busy, %v", s.samples, s.busy, s.outside)
	}
}
