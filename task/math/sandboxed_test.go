package math

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/calc"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if sandbox.Main(sandbox.Entries{Calls: map[string]sandbox.Entry{calc.EntryName: calc.Entry}}) {
		return
	}
	goleak.VerifyTestMain(m)
}

func sandboxedEnv(t *testing.T) whale.Env {
	t.Helper()
	l := smallConfig().Calculator
	pool, err := sandbox.NewPool(sandbox.Options{Spec: l.Spec(), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	calculator, err := Sandboxed(pool, l)
	if err != nil {
		t.Fatal(err)
	}
	return newEnv(t, calculator, nil)
}

func calculate(t *testing.T, e whale.Env, code string) whale.ToolResult {
	t.Helper()
	quoted, err := json.Marshal(code)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Call(t.Context(), "calculator", map[string]json.RawMessage{"code": quoted})
	if err != nil {
		t.Fatalf("%q: %v", code, err)
	}
	return got
}

// The calculator agrees with every solution that the generator states, step by step and in one expression.
func TestSandboxedSolvesProblems(t *testing.T) {
	e := sandboxedEnv(t)
	for _, p := range pretrain(t, DefaultGeneratorOptions(), 300) {
		results, err := p.Results()
		if err != nil {
			t.Fatal(err)
		}
		codes := append(p.Expressions(), p.Expression())
		results = append(results, p.Answer)
		for i, code := range codes {
			if got := calculate(t, e, code); strings.TrimSpace(got.Text) != strconv.FormatInt(results[i], 10) || got.Error != "" {
				t.Fatalf("%s: got %+v, want %d", code, got, results[i])
			}
		}
	}
}

// Whatever a program does, the model gets one line of text and the next program runs.
func TestSandboxedHostile(t *testing.T) {
	e := sandboxedEnv(t)
	for name, code := range map[string]string{
		"endless":           "while True:\n    pass",
		"memory":            `x = "a" * (1 << 40)`,
		"list":              "x = [0] * (1 << 33)",
		"tower":             "9 ** 9 ** 9 ** 9",
		"prints":            "while True:\n    print('x' * 1000)",
		"no program":        "347 plus 58",
		"long source":       strings.Repeat("1+", 10_000) + "1",
		"zero":              "1 // 0",
		"deep":              strings.Repeat("(", 1500) + "1" + strings.Repeat(")", 1500) + "(",
		"endless recursion": "def f(n):\n    return f(n + 1)\nf(0)",
	} {
		got := calculate(t, e, code)
		if got.Error == "" || strings.Contains(got.Error, "\n") || len(got.Text) > 5000 || len(got.Error) > 1000 {
			t.Errorf("%s: got text of %d bytes and error %q, want one line of error", name, len(got.Text), got.Error)
		}
		if after := calculate(t, e, "x = 2\nx + 3"); strings.TrimSpace(after.Text) != "5" {
			t.Errorf("after %s: got %+v, want 5", name, after)
		}
	}
}

func TestSandboxedRefuses(t *testing.T) {
	l := smallConfig().Calculator
	pool, err := sandbox.NewPool(sandbox.Options{Spec: l.Spec(), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	calculator, err := Sandboxed(pool, l)
	if err != nil {
		t.Fatal(err)
	}
	pool.Close()
	if _, _, err := calculator.Do(context.Background(), "x = 1\nx"); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("closed pool: got error %v, want %v", err, sandbox.ErrClosed)
	}
	l.Steps = 0
	if _, err := Sandboxed(pool, l); err == nil {
		t.Error("0 steps: got no error")
	}
	if _, err := Sandboxed(nil, smallConfig().Calculator); err == nil {
		t.Error("no pool: got no error")
	}
}
