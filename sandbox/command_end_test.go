package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// marked lists the processes that have a mark among their arguments, but this one.
func marked(t *testing.T, mark string) (pids []int) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		line, err := os.ReadFile(name)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && pid != os.Getpid() && bytes.Contains(line, []byte(mark)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// zombies lists the children of this process that have ended and are not reaped.
func zombies(t *testing.T) (pids []string) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		stat, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(stat), fmt.Sprintf(") Z %d ", os.Getpid())) {
			pids = append(pids, string(stat))
		}
	}
	return pids
}

// lasting is a program that does not want to end.
const lasting = `
import signal, time
for s in range(1, 65):
    try:
        signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
print("up", flush=True)
while True:
    time.sleep(1000)
`

func TestCommandEndsWithItsContext(t *testing.T) {
	spec := pythonSpec(t, lasting)
	mark := fmt.Sprintf("mark-context-%d", os.Getpid())
	spec.Args = append(spec.Args, mark)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := StartCommand(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stdin.Close()
	defer c.Stdout.Close()
	if n, err := c.Stdout.Read(make([]byte, 10)); n == 0 {
		t.Fatalf("%v: %s", err, c.Stderr())
	}
	if len(marked(t, mark)) < 2 {
		t.Fatal("the test does not see the processes")
	}
	start := time.Now()
	cancel()
	if err := c.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if left, dead := marked(t, mark), zombies(t); len(left) > 0 || len(dead) > 0 {
		t.Errorf("left are processes %v and zombies %v", left, dead)
	}
	if _, err := StartCommand(ctx, spec); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: got %v", err)
	}
}

// A kill at any time of a command's life leaves nothing.
func TestCommandKill(t *testing.T) {
	spec := pythonSpec(t, lasting)
	mark := fmt.Sprintf("mark-kill-%d", os.Getpid())
	spec.Args = append(spec.Args, mark)
	for i := range 12 {
		c, err := StartCommand(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 4 * time.Millisecond)
		c.Kill()
		c.Kill()
		if err := c.Wait(); !errors.Is(err, ErrKilled) {
			t.Errorf("got %v, want ErrKilled", err)
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Fatalf("after %d ms left are processes %v", 4*i, left)
		}
		if out, err := io.ReadAll(c.Stdout); err != nil || len(out) > 3 {
			t.Errorf("got %q, %v", out, err)
		}
		c.Kill() // does no harm
		c.Stdin.Close()
		c.Stdout.Close()
	}
	if dead := zombies(t); len(dead) > 0 {
		t.Errorf("zombies %v", dead)
	}
}

// parentOfCommand is a process of the next test: it starts a command and waits.
func parentOfCommand(mark string) {
	spec := Python("", commandMemory)
	spec.Files = []File{{Name: "program.py", Data: []byte(lasting)}}
	spec.Args = append(spec.Args, FilesDir+"/program.py", mark)
	c, err := StartCommand(context.Background(), spec)
	if err != nil {
		panic(err)
	}
	fmt.Println("started")
	_ = c.Wait()
}

// Whenever a parent is killed, from the first moment of its command's life on, nothing of that is left.
func TestCommandDiesWithItsParent(t *testing.T) {
	pythonSpec(t, "")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, delay := range []time.Duration{0, 2, 4, 7, 11, 16, 22, 30, 300} {
		mark := fmt.Sprintf("mark-parent-%d-%d", os.Getpid(), delay)
		cmd := exec.Command(self, "__parentofcommand", mark)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if n, err := stdout.Read(make([]byte, 10)); n == 0 {
			t.Fatal(err)
		}
		time.Sleep(delay * time.Millisecond)
		seen = max(seen, len(marked(t, mark)))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		for i := 0; len(marked(t, mark)) > 0; i++ {
			if i > 400 {
				t.Fatalf("killed after %v: processes %v outlive their parent", delay*time.Millisecond, marked(t, mark))
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	if seen != 4 { // the parent, bubblewrap outside and inside, the program
		t.Errorf("the test saw %d processes at most, want 4", seen)
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	good := pythonSpec(t, "print(1)")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*CommandSpec){
		"no program":      func(s *CommandSpec) { s.Program = "/does/not/exist" },
		"no executable":   func(s *CommandSpec) { s.Program = text },
		"nothing to show": func(s *CommandSpec) { s.Show = []string{"/does/not/exist"} },
	} {
		t.Run(name, func(t *testing.T) {
			spec := good
			change(&spec)
			c, err := StartCommand(t.Context(), spec)
			if err == nil {
				err = c.Wait()
				c.Stdin.Close()
				c.Stdout.Close()
			}
			if !errors.Is(err, ErrStart) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want ErrStart in one line", err)
			}
			t.Log(err)
		})
	}
}

func TestCommandSpecRefused(t *testing.T) {
	for name, change := range map[string]func(*CommandSpec){
		"relative program": func(s *CommandSpec) { s.Program = "python3" },
		"memory":           func(s *CommandSpec) { s.Memory = MinCommandMemory - 1 },
		"much memory":      func(s *CommandSpec) { s.Memory = 1 << 62 },
		"reserve":          func(s *CommandSpec) { s.Reserve = -1 },
		"tmp":              func(s *CommandSpec) { s.Tmp = 0 },
		"tmp files":        func(s *CommandSpec) { s.TmpFiles = 0 },
		"open files":       func(s *CommandSpec) { s.OpenFiles = 3 },
		"processor time":   func(s *CommandSpec) { s.CPU = time.Millisecond },
		"path of a file":   func(s *CommandSpec) { s.Files = []File{{Name: "../x"}} },
		"same file":        func(s *CommandSpec) { s.Files = []File{{Name: "x"}, {Name: "x"}} },
		"large file":       func(s *CommandSpec) { s.Files = []File{{Name: "x", Data: make([]byte, maxFileBytes+1)}} },
		"many files":       func(s *CommandSpec) { s.Files = make([]File, maxFiles+1) },
		"environment":      func(s *CommandSpec) { s.Env = []string{"X"} },
		"show":             func(s *CommandSpec) { s.Show = []string{"etc"} },
		"zero byte":        func(s *CommandSpec) { s.Args = []string{"a\x00b"} },
	} {
		spec := Python("", commandMemory)
		change(&spec)
		if c, err := StartCommand(t.Context(), spec); err == nil {
			t.Errorf("%s: got nil, want an error", name)
			c.Kill()
			_ = c.Wait()
		} else if errors.Is(err, ErrStart) {
			t.Errorf("%s: got %v, want an error of the spec", name, err)
		}
	}
}

func TestPrefix(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"bin", "lib", ".ssh"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for program, want := range map[string][]string{
		"/usr/bin/python3": nil, "/bin/sh": nil,
		home + "/bin/python3": {home + "/bin/python3", home + "/lib"},
		home + "/python3":     {home + "/python3"},
		"/x/bin/python3":      {"/x/bin/python3"},
	} {
		if got := prefix(program); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", program, got, want)
		}
	}
}
