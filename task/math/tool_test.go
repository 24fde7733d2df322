package math

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
)

// pythonEnv is an episode's world with the tool that a config names.
func pythonEnv(t *testing.T, c Config) whale.Env {
	t.Helper()
	tool, closing, err := OpenTool(c, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closing)
	m, err := New(context.Background(), c, tool)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.NewEnv(t.Context(), whale.Example{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if specs := e.Tools(); len(specs) != 1 || specs[0].Name != "python" || !strings.Contains(m.About(), `env.call("python", code = …)`) {
		t.Errorf("got tools %+v and about %q", specs, m.About())
	}
	return e
}

func callPython(t *testing.T, e whale.Env, code string) whale.ToolResult {
	t.Helper()
	quoted, err := json.Marshal(code)
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Call(t.Context(), "python", map[string]json.RawMessage{"code": quoted})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestPythonTool(t *testing.T) {
	c := smallConfig()
	c.Tool = ToolPython
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("no bubblewrap: ", err)
	}
	if _, err := os.Stat(c.Python.Program); err != nil {
		t.Skip("no interpreter: ", err)
	}
	e := pythonEnv(t, c)
	if got := callPython(t, e, "print(sum(range(10)))"); got.Text != "45" || got.Error != "" {
		t.Errorf("got %+v", got)
	}
	if got := callPython(t, e, "print(1)\nprint(1/0)"); !strings.HasPrefix(got.Text, "1\nTraceback") || got.Error != "exit status 1: ZeroDivisionError: division by zero" {
		t.Errorf("got %+v", got)
	}
	got, err := e.Call(t.Context(), "calculator", nil)
	if err != nil || !strings.Contains(got.Error, `unknown tool "calculator"`) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := e.Call(t.Context(), "python", map[string]json.RawMessage{"code": []byte("5")}); err != nil || !strings.Contains(got.Error, "want string") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestFusionTool(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status": "Failed", "run_result": {"status": "Finished", "return_code": 1, "stdout": "a", "stderr": "NameError: x"}}`)
	}))
	defer server.Close()
	c := smallConfig()
	c.Tool, c.Fusion.URL = ToolFusion, server.URL
	if got := callPython(t, pythonEnv(t, c), "x"); got.Text != "a\nNameError: x" || got.Error != "exit status 1: NameError: x" {
		t.Errorf("got %+v", got)
	}
}

// The tool and its limits are part of the task's identity, and the address of a server is not.
func TestToolID(t *testing.T) {
	id := func(change func(*Config)) whale.ID {
		c := smallConfig()
		change(&c)
		m, err := New(context.Background(), c, fakeCalculator{})
		if err != nil {
			t.Fatal(err)
		}
		return m.ID()
	}
	seen := make(map[whale.ID]string)
	for name, change := range map[string]func(*Config){
		"calculator":      func(*Config) {},
		"python":          func(c *Config) { c.Tool = ToolPython },
		"python limits":   func(c *Config) { c.Tool = ToolPython; c.Python.CPUSeconds++ },
		"python packages": func(c *Config) { c.Tool = ToolPython; c.Python.Packages = []string{"/opt/x"} },
		"fusion":          func(c *Config) { c.Tool, c.Fusion.URL = ToolFusion, "http://a" },
		"fusion limits":   func(c *Config) { c.Tool, c.Fusion.URL, c.Fusion.RunSeconds = ToolFusion, "http://a", 5 },
		"numeric":         func(c *Config) { c.Verifier.Kind = VerifierNumeric },
		"numeric tail":    func(c *Config) { c.Verifier.Kind, c.Verifier.TailChars = VerifierNumeric, 100 },
		"strict tail":     func(c *Config) { c.Verifier.TailChars = 100 },
	} {
		got := id(change)
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s: got the same ID", name, other)
		}
		seen[got] = name
	}
	here := id(func(c *Config) { c.Tool, c.Fusion.URL = ToolFusion, "http://a" })
	if there := id(func(c *Config) { c.Tool, c.Fusion.URL, c.Fusion.Retries = ToolFusion, "http://b", 0 }); there != here {
		t.Error("another server: got another ID")
	}
}

// The generated problems with calculator and strict verifier are the task that they have been from the start: runs of the quick example are compared by it.
func TestQuickID(t *testing.T) {
	c := DefaultConfig()
	c.Generator.Seed, c.Generator.Counts = 11, Counts{Train: 512, Search: 128, Validation: 128, Test: 200}
	if got := newTask(t, c).ID(); got != "f849212b6baf25b7365c9be9841cd63f" {
		t.Errorf("got ID %s, want f849212b6baf25b7365c9be9841cd63f", got)
	}
}

func TestNumericVerifier(t *testing.T) {
	for _, c := range []struct {
		reference, text string
		tail            int
		reason          string
	}{
		{"25", `so \boxed{25.0}`, 0, ""}, {"1000", `\boxed{1,000}`, 0, ""}, {`\frac{1}{2}`, `\fbox{0.5}`, 0, ""}, {"25", `\boxed{25\text{ km}}`, 0, ""}, {"3", `\boxed{1} \fbox{3}`, 0, ""},
		{"25", `\boxed{26}`, 0, ReasonWrong}, {"25", `\boxed{5*5}`, 0, ReasonWrong}, {"25", `\boxed{}`, 0, ReasonWrong}, {"25", `25`, 0, ReasonNoBox}, {"25", `\fbox{25`, 0, ReasonNoBox},
		{"25", `\boxed{25}` + strings.Repeat(" ", 100), 100, ReasonNoBox}, {"25", `\boxed{25}` + strings.Repeat(" ", 90), 100, ""},
	} {
		v, err := NewVerifier(VerifierOptions{Kind: VerifierNumeric, TailChars: c.tail})
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Verify(t.Context(), example("q", c.reference, nil), replies(c.text))
		if err != nil || got.Reason != c.reason || (got.Reward == 1) != (c.reason == "") {
			t.Errorf("%q for %q: got %+v, %v, want %q", c.text, c.reference, got, err, c.reason)
		}
	}
}
