package math

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	whale "github.com/seed-095d5d2b/whale"
)

// fakeCalculator answers from a table; code that it does not know is echoed.
type fakeCalculator map[string]struct {
	output, errText string
	err             error
}

func (f fakeCalculator) Do(ctx context.Context, src string) (string, string, error) {
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	if a, ok := f[src]; ok {
		return a.output, a.errText, a.err
	}
	return "ran " + src, "", nil
}

func newEnv(t *testing.T, calculator Calculator, change func(*Config)) whale.Env {
	t.Helper()
	c := smallConfig()
	if change != nil {
		change(&c)
	}
	m, err := New(context.Background(), c, calculator)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.NewEnv(context.Background(), whale.Example{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestCall(t *testing.T) {
	fake := fakeCalculator{
		"1/0":  {errText: "division by zero"},
		"both": {output: "3\n", errText: "line 2: undefined: x"},
	}
	e := newEnv(t, fake, nil)
	for _, c := range []struct{ name, tool, args, text, err string }{
		{"expression", "calculator", `{"code": "2+3"}`, "ran 2+3", ""},
		{"empty", "calculator", `{"code": ""}`, "ran ", ""},
		{"escapes", "calculator", `{"code": "a\n\"b\""}`, "ran a\n\"b\"", ""},
		{"its own mistake", "calculator", `{"code": "1/0"}`, "", "division by zero"},
		{"output before a mistake", "calculator", `{"code": "both"}`, "3\n", "line 2: undefined: x"},
		{"unknown tool", "calculater", `{"code": "1"}`, "", `unknown tool "calculater": did you mean "calculator"?`},
		{"missing", "calculator", `{}`, "", `missing argument "code"`},
		{"misspelt", "calculator", `{"cod": "1"}`, "", `unknown argument "cod": did you mean "code"?`},
		{"other name", "calculator", `{"expression": "1"}`, "", `unknown argument "expression": did you mean "code"?`},
		{"extra", "calculator", `{"code": "1", "timeout": 5}`, "", `unknown argument "timeout"`},
		{"wrong type", "calculator", `{"code": 12}`, "", `argument "code": got a value of type integer, want string`},
		{"null", "calculator", `{"code": null}`, "", `got a value of type null, want string`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var args map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.args), &args); err != nil {
				t.Fatal(err)
			}
			got, err := e.Call(context.Background(), c.tool, args)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != c.text || !strings.Contains(got.Error, c.err) || (got.Error == "") != (c.err == "") {
				t.Errorf("got %+v, want text %q and error %q", got, c.text, c.err)
			}
		})
	}
}

func TestCallInfrastructure(t *testing.T) {
	broken := errors.New("worker died")
	e := newEnv(t, fakeCalculator{"boom": {err: broken}}, nil)
	args := map[string]json.RawMessage{"code": json.RawMessage(`"boom"`)}
	if _, err := e.Call(context.Background(), "calculator", args); !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	args["code"] = json.RawMessage(`"1"`)
	if _, err := e.Call(ctx, "calculator", args); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

func TestCallCutsOutput(t *testing.T) {
	long := strings.Repeat("é", 500)
	fake := fakeCalculator{"long": {output: long, errText: long}, "fits": {output: strings.Repeat("x", 99)}, "bytes": {output: "\xff\x001"}}
	e := newEnv(t, fake, func(c *Config) { c.Calculator.OutputBytes = 99 })
	for code, want := range map[string]string{
		`"long"`:  strings.Repeat("é", 49) + "\n[cut: 99 of 1000 bytes shown]",
		`"fits"`:  strings.Repeat("x", 99),
		`"bytes"`: "\uFFFD\x001",
	} {
		got, err := e.Call(context.Background(), "calculator", map[string]json.RawMessage{"code": json.RawMessage(code)})
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != want || !utf8.ValidString(got.Text) {
			t.Errorf("%s: got %q, want %q", code, got.Text, want)
		}
		if len(got.Error) > 140 {
			t.Errorf("%s: got an error of %d bytes, want it cut", code, len(got.Error))
		}
	}
}

func TestEnvSpecs(t *testing.T) {
	e := newEnv(t, fakeCalculator{}, nil)
	specs := e.Tools()
	if len(specs) != 1 || specs[0].Name != "calculator" || len(specs[0].Parameters) != 1 || specs[0].Parameters[0].Name != "code" {
		t.Errorf("got tools %+v, want calculator(code)", specs)
	}
	specs[0].Name = "changed"
	if e.Tools()[0].Name != "calculator" {
		t.Error("a caller changed the environment's tools")
	}
	_, err := e.Render("board", nil)
	var failure *whale.HarnessError
	if !errors.As(err, &failure) || failure.Failure.Reason != whale.FailContract {
		t.Errorf("render: got error %v, want a contract failure of the harness", err)
	}
}
