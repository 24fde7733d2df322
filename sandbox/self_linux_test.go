package sandbox

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const replacedEnv = "SANDBOX_TEST_REPLACED"

// A program whose file is removed or replaced while it runs still starts its own workers and commands, and not what stands there now.
func TestProgramFileIsReplaced(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"removed", "replaced"} {
		t.Run(how, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(file, data, 0o755); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(file, "-test.run=^TestProgramFileIsReplacedInside$", "-test.v")
			c.Env = append(os.Environ(), replacedEnv+"="+how+" "+file)
			if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestProgramFileIsReplacedInside is the program of the test above.
func TestProgramFileIsReplacedInside(t *testing.T) {
	how, file, ok := strings.Cut(os.Getenv(replacedEnv), " ")
	if !ok {
		t.Skip("run by TestProgramFileIsReplaced")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if how == "replaced" {
		if err := os.WriteFile(file, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g := newGroup(t, nil)
	wantEcho(t, open(t, g), "x")
	spec := Python("", 64<<20)
	spec.Args = append(spec.Args, "-c", "print(6 * 7)")
	c, err := StartCommand(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stdout.Close()
	c.Stdin.Close()
	out, err := io.ReadAll(c.Stdout)
	if err == nil {
		err = c.Wait()
	}
	if err != nil || string(out) != "42\n" {
		t.Errorf("got %q, %v, want 42", out, err)
	}
	mechanisms, err := Probe(context.Background())
	if err == nil {
		err = Require(mechanisms)
	}
	if err != nil {
		t.Error(err)
	}
}
