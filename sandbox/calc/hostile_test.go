package calc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// inWorker is Do without the fast path.
func (c *Calculator) inWorker(ctx context.Context, src string) (Result, error) {
	req, err := json.Marshal(Request{Source: src, Limits: c.lim})
	if err != nil {
		return Result{}, err
	}
	reply, err := c.pool.Do(ctx, req)
	if err != nil {
		return Result{}, err
	}
	var resp Response
	err = json.Unmarshal(reply, &resp)
	return Result(resp), err
}

// rawEntry runs a program in the plain interpreter with no limit but steps: what a worker must withstand by itself.
func rawEntry(_ context.Context, req []byte, lim sandbox.Limits) ([]byte, error) {
	opts := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	thread := new(starlark.Thread)
	thread.SetMaxExecutionSteps(lim.Steps)
	globals, err := starlark.ExecFileOptions(opts, thread, "raw", req, nil)
	if err != nil {
		return nil, err
	}
	return fmt.Append(nil, len(globals)), nil
}

// bombs are programs that take gigabytes or minutes in the plain interpreter.
var bombs = []string{
	"while True: pass",
	"for i in range(1 << 62): pass",
	"def f(n):\n  return f(n + 1)\nf(0)",
	"x = 'a' * (1 << 29)",
	"x = 'a' * (1 << 30)",
	"x = ['a' * (1 << 29) + str(i) for i in range(100)]",
	"x = [0] * (1 << 29)",
	"x = [0] * (1 << 25)",
	"x = [0]\nwhile True: x = x + x",
	"x = [0]\nwhile True: x += x",
	"x = 'a'\nwhile True: x = x + x",
	"d = {}\ni = 0\nwhile True:\n  d[i] = str(i) * 100\n  i += 1",
	"x = 1 << (1 << 30)",
	"x = 3\nwhile True: x = x * x",
	"x = int('9' * (1 << 22))",
	"x = []\nfor i in range(100000): x = [x]\ns = str(x)",
	"x = ('a' * (1 << 20)).replace('a', 'b' * 4096)",
	"x = ('a' * (1 << 20)).join(['b'] * (1 << 14))",
	"x = list(range(1 << 33))",
	"x = sorted([-i for i in range(9000000)])",
	"x = 1\nfor i in range(300): x = (x, x)\nh = {x: 1}",
	"print('a' * 10000000)",
}

// Every bomb ends within its limits, as a violation or an error, in the plain interpreter and in the calculator, and good
// requests beside them all succeed.
func TestHostileCorpus(t *testing.T) {
	if raceDetector {
		t.Skip("workers with the race detector need more memory than the limit")
	}
	rawSpec := sandbox.Spec{Entry: "raw", Memory: testMemory, Wall: 500 * time.Millisecond, Steps: 1_000_000, MaxOutput: 1 << 10}
	raw := newPool(t, rawSpec, 2)
	rawSpec.Wall = time.Minute // where the clock must not come first
	patient := newPool(t, rawSpec, 1)
	pool := newPool(t, Spec(DefaultLimits, testMemory, time.Minute), 2)
	c, err := New(pool, DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var good sync.WaitGroup
	served := 0
	good.Go(func() {
		for ; ctx.Err() == nil; served++ {
			src := fmt.Sprintf("x = %d\nfor i in range(100): x += i**2\nx", served)
			if got, err := c.Do(t.Context(), src); err != nil || got.Output != fmt.Sprintf("%d\n", served+328350) {
				t.Errorf("a good request: got %+v, %v", got, err)
			}
			if got, err := raw.Do(t.Context(), []byte("x = 1\ny = 2")); err != nil || string(got) != "2" {
				t.Errorf("a good raw request: got %q, %v", got, err)
			}
			time.Sleep(2 * time.Millisecond)
		}
	})
	kinds := map[string]int{}
	for _, src := range bombs {
		refused := strings.Contains(src, "* (1 <<") && !strings.Contains(src, "int(")
		plain := raw
		if refused {
			plain = patient
		}
		_, err := plain.Do(t.Context(), []byte(src))
		var broke *sandbox.Violation
		var own *sandbox.EntryError
		switch {
		case errors.As(err, &broke):
			kinds[string(broke.Reason)]++
			if refused && broke.Reason != sandbox.ReasonMemory {
				t.Errorf("raw %q: got %v, want one huge allocation refused at once", src, err)
			}
		case errors.As(err, &own):
			kinds["error"]++
		case err == nil && strings.HasPrefix(src, "print"): // the calculator's bound, not the worker's
			kinds["fits"]++
		default:
			t.Errorf("raw %q: got %v, want a violation or an error", src, err)
		}
		if res, err := c.Do(t.Context(), src); err != nil || res.Error == "" {
			t.Errorf("calculator %q: got %+v, %v, want an error for the model", src, res, err)
		}
	}
	stop()
	good.Wait()
	t.Logf("plain interpreter: %v; %d good requests beside", kinds, served)
	if kinds["memory"] == 0 || kinds["wall"] == 0 || served == 0 {
		t.Errorf("got %v and %d good requests: the test exercises too little", kinds, served)
	}
	raw.Close()
	patient.Close()
	pool.Close()
	if n := children(t); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

func TestCalculator(t *testing.T) {
	c := newCalculator(t, 2)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				src := fmt.Sprintf("print(%d)\n%d ** 2", i, j)
				got, err := c.Do(t.Context(), src)
				if want := fmt.Sprintf("%d\n%d\n", i, j*j); err != nil || got.Output != want || got.Error != "" {
					t.Errorf("got %+v, %v, want %q", got, err, want)
				}
			}
		})
	}
	wg.Wait()
	for src, want := range map[string]string{
		"1 / 0": "line 1: division by zero", "x = 1 / 0": "line 1: division by zero", strings.Repeat("x", 1<<20): "the program has 1048576 bytes, the limit is 4096",
		"a\xff": "the program is not valid text",
	} {
		if got, err := c.Do(t.Context(), src); err != nil || got.Error != want {
			t.Errorf("%.20q: got %+v, %v, want %q", src, got, err, want)
		}
	}
	// An output of the worst kind for JSON still fits the frame.
	if got, err := c.Do(t.Context(), "print('\\x01' * 8191)"); err != nil || got.Error != "" || len(got.Output) != 8192 {
		t.Errorf("got %d bytes, %q, %v", len(got.Output), got.Error, err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.Do(ended, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := New(nil, DefaultLimits); err == nil {
		t.Error("no pool: got nil, want an error")
	}
}

func BenchmarkWorker(b *testing.B) {
	p, err := sandbox.NewPool(sandbox.Options{Spec: Spec(DefaultLimits, testMemory, time.Second), Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	c, err := New(p, DefaultLimits)
	if err != nil {
		b.Fatal(err)
	}
	for _, src := range []string{"(3+4)*5/2", "(3+4)**5/2"} {
		b.Run(src, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Do(context.Background(), src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
