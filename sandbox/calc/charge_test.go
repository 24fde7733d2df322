package calc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// million are the limits of the math task.
var million = Limits{Steps: 1_000_000, Output: 4096, Source: 4096}

// heavy are programs that never end, each with another operation, method or function in its loop, on operands as large as it takes.
func heavy(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/heavy.txt")
	if err != nil {
		t.Fatal(err)
	}
	programs := strings.Split(strings.TrimSpace(string(data)), "\n---\n")
	if len(programs) < 100 {
		t.Fatalf("got %d programs, want the whole corpus", len(programs))
	}
	return programs
}

// cpu is the processor time of this thread.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Whatever a program repeats, the count of steps or bytes ends it soon, with a text that neither the collector nor the process
// it runs in changes. A quarter of the steps is enough to show it for most, and those that hoard have all.
func TestHeavyPrograms(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	quarter := million
	quarter.Steps /= 4
	var all, some *Calculator
	if !raceDetector {
		// The least memory that the limits allow; the clock must not be what ends a program.
		pool := newPool(t, Spec(million, max(sandbox.MinMemory, million.Memory()), time.Minute), 1)
		var err1, err2 error
		all, err1 = New(pool, million)
		some, err2 = New(pool, quarter)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
	}
	const most = 1500 * time.Millisecond // of a processor that others share; alone it takes a tenth
	for _, src := range heavy(t) {
		lim, c := quarter, some
		if strings.Contains(src, "range(1000000)") || strings.Contains(src, "append") || strings.Contains(src, "d[") {
			lim, c = million, all
		}
		before := cpu(t)
		got, err := evaluate(src, lim)
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		if took := cpu(t) - before; took > most*time.Duration(lim.Steps)/time.Duration(quarter.Steps) && !raceDetector {
			t.Errorf("%q: took %v of the processor for %d steps", src, took, lim.Steps)
		}
		_, text, _ := strings.Cut(got.Error, ": ")
		switch text {
		case fmt.Sprintf("too many steps, the limit is %d", lim.Steps), errMemory.Error(), errTooLarge.Error(), errDeep.Error():
		default:
			t.Errorf("%q: got %+v, want a limit", src, got)
		}
		if c == nil {
			continue
		}
		if again, err := c.Do(t.Context(), src); err != nil || again != Result(got) {
			t.Errorf("%q: got %+v, %v in a worker, %+v here", src, again, err, got)
		}
	}
}

// Programs as models write them have room enough.
func TestHonestPrograms(t *testing.T) {
	for src, want := range map[string]string{
		"s = [True] * 20001\nfor i in range(2, 142):\n  if s[i]:\n    for j in range(i*i, 20001, i): s[j] = False\nsum([1 for i in range(2, 20001) if s[i]])":       "2262",
		"a, b = 0, 1\nfor i in range(5000): a, b = b, a + b\nlen(str(a))":                                                                                           "1045",
		"total = 0\nfor i in range(20000):\n  if i % 3 == 0 or i % 5 == 0: total += i\ntotal":                                                                       "93316668",
		"d = {}\nfor i in range(5000): d[str(i % 97)] = d.get(str(i % 97), 0) + 1\nmax(d.values()), len(d)":                                                         "(52, 97)",
		"x = 100.0\nfor i in range(1000): x *= 1.0007\nround(x, 6)":                                                                                                 "201.325963",
		"s = ''\nfor i in range(2000): s += str(i)\nlen(s)":                                                                                                         "6890",
		"p = [[0] * 60 for i in range(60)]\nfor i in range(60):\n  for j in range(60): p[i][j] = 1 if i == 0 or j == 0 else p[i-1][j] + p[i][j-1]\np[59][59]":       "",
		"math.comb(1000, 500) % 10**9, math.factorial(500) // math.factorial(498)":                                                                                  "(821216320, 249500)",
		"sorted([(i * 7919) % 1009 for i in range(2000)])[1000]":                                                                                                    "",
		"memo = {}\ndef f(i, j):\n  if i == 0 or j == 0: return 1\n  if (i, j) not in memo: memo[(i, j)] = f(i-1, j) + f(i, j-1)\n  return memo[(i, j)]\nf(30, 30)": "118264581564861424",
		"pow(3, 10**300, 10**300 + 7) % 10":                                                                                                                         "",
	} {
		got, err := Eval(src, million)
		if err != nil || want != "" && got != want+"\n" {
			t.Errorf("%q: got %q, %v, want %q", src, got, err, want)
		}
	}
}

// Nothing that a program can name or call is Starlark's own without a charge.
func TestEverythingIsCharged(t *testing.T) {
	thread := new(starlark.Thread)
	m := &machine{thread: thread, limit: 1 << 40, depth: maxCalls}
	env := m.builtins()
	for name, v := range starlark.Universe {
		if _, isFunc := v.(*starlark.Builtin); isFunc && !env.Has(name) {
			t.Errorf("%s: the program gets Starlark's own", name)
		}
	}
	for _, v := range []starlark.HasAttrs{starlark.String(""), starlark.Bytes(""), starlark.NewList(nil), new(starlark.Dict), new(starlark.Set)} {
		costs := methodCosts[v.(starlark.Value).Type()]
		if len(costs) != len(v.AttrNames()) {
			t.Errorf("%s: got %d costs, want those of %v", v.(starlark.Value).Type(), len(costs), v.AttrNames())
		}
		for _, name := range v.AttrNames() {
			if costs[name] == nil {
				t.Errorf("%s.%s has no cost", v.(starlark.Value).Type(), name)
			}
		}
	}
}

// Every operator, subscript, slice, attribute and display of a program is a call after the rewrite.
func TestTablesAreReached(t *testing.T) {
	for src, want := range map[string]string{
		"x = {}\nx[1], y = 2, 3\nx": "{1: 2}", "for x in [[1, 2]]: a, b = x\na": "1", "a = [0, 0]\nfor a[1] in range(4): pass\na": "[0, 3]",
		"x = [1, 2]\nx[0], x[1] = x[1], x[0]\nx": "[2, 1]", "d = {1: 2}\nd |= {3: 4}\nd": "{1: 2, 3: 4}", "s = set([1])\nt = s\ns |= set([2])\nlen(t)": "2",
		"x = 6\nx &= 3\nx |= 8\nx ^= 1\nx": "11", "f = [].append\nf(1)": "", "x = []\ng = x.append\ng(5)\nx": "[5]", "def f(*a, **k): return a, k\nf(*[1, 2], **{'z': 3})": "((1, 2), {'z': 3})",
		"d = {'k': 1}\nd['k'] += 1": "", "x = [1]\nx.append(2)": "", "'a b'.split()[1][0]": "b", "[[1, 2][i] for i in [1, 0]]": "[2, 1]", "{k: v for k, v in {1: 2}.items()}": "{1: 2}",
		"x = [3, 4]\nx[-1] -= 1\nx[::-1]": "[3, 3]", "not 1 in [1]": "False", "(lambda *a: a)(*range(3))": "(0, 1, 2)", "1e400": "inf", "1_0e3_0_0 * 0": "0.0",
	} {
		got, err := Eval(src, million)
		if err != nil || strings.TrimSuffix(got, "\n") != want {
			t.Errorf("%q: got %q, %v, want %q", src, got, err, want)
		}
	}
}

// brokenEntry is a worker that fails in the way that the program names.
func brokenEntry(_ context.Context, req []byte, lim sandbox.Limits) ([]byte, error) {
	switch {
	case strings.Contains(string(req), "die"):
		os.Exit(3)
	case strings.Contains(string(req), "hang"):
		time.Sleep(time.Minute)
	case strings.Contains(string(req), "hoard"):
		return make([]byte, 1<<40), nil
	}
	return make([]byte, lim.MaxOutput+1), nil
}

// What load or a neighbour can bring about is an error, never a text for the model; what is counted is one.
func TestViolationsAreNoEvidence(t *testing.T) {
	spec := Spec(million, testMemory, 300*time.Millisecond)
	spec.Entry = "broken"
	c, err := New(newPool(t, spec, 1), million)
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]sandbox.Reason{"die": sandbox.ReasonDied, "hang": sandbox.ReasonWall, "hoard": sandbox.ReasonMemory} {
		got, err := c.Do(t.Context(), src)
		var broke *sandbox.Violation
		if got != (Result{}) || !errors.As(err, &broke) || broke.Reason != want && !(want == sandbox.ReasonMemory && raceDetector) {
			t.Errorf("%s: got %+v, %v, want a violation of kind %s as an error", src, got, err, want)
		}
	}
	if got, err := c.Do(t.Context(), "long"); err != nil || got.Error != "the program prints too much" {
		t.Errorf("long: got %+v, %v", got, err)
	}
}

// The spec fits the sandbox at both ends of the limits, and what is beyond is refused.
func TestLimitsFitTheSandbox(t *testing.T) {
	for _, lim := range []Limits{{1, 1, 1}, {MaxSteps, MaxOutput, MaxSource}} {
		if err := lim.check(); err != nil {
			t.Error(err)
		}
		newPool(t, Spec(lim, max(sandbox.MinMemory, lim.Memory()), time.Second), 1)
	}
	for _, lim := range []Limits{{MaxSteps + 1, 1, 1}, {1, MaxOutput + 1, 1}, {1, 1, MaxSource + 1}, {1 << 63, 1, 1}, {1, 2e18, 1}, {1, -1, 1}} {
		if err := lim.check(); err == nil {
			t.Errorf("%+v: got nil, want an error", lim)
		}
	}
}
