package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

const commandMemory = 128 << 20

// pythonSpec is the spec of a Python program, if this machine can run one.
func pythonSpec(t *testing.T, source string) CommandSpec {
	t.Helper()
	return needProgram(t, Python("", commandMemory), "program.py", source)
}

func nodeSpec(t *testing.T, source string) CommandSpec {
	t.Helper()
	return needProgram(t, Node("", commandMemory), "program.js", source)
}

func needProgram(t *testing.T, spec CommandSpec, name, source string) CommandSpec {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("no bubblewrap: ", err)
	}
	if _, err := os.Stat(spec.Program); err != nil {
		t.Skip("no interpreter: ", err)
	}
	if why := namespacesRefused(); why != "" {
		t.Skip("no namespaces: ", why)
	}
	spec.Files = []File{{Name: name, Data: []byte(source)}}
	spec.Args = append(spec.Args, FilesDir+"/"+name)
	return spec
}

// runCommand runs a program to its end, for at most a minute.
func runCommand(t *testing.T, spec CommandSpec, input string) (output, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := StartCommand(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c.Stdin, input); err != nil {
		t.Logf("input: %v", err)
	}
	c.Stdin.Close()
	out, err := io.ReadAll(io.LimitReader(c.Stdout, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout.Close()
	err = c.Wait()
	return string(out), c.Stderr(), err
}

func TestCommandTalks(t *testing.T) {
	for _, spec := range []func(*testing.T) CommandSpec{
		func(t *testing.T) CommandSpec {
			return pythonSpec(t, "import sys\nfor line in sys.stdin:\n    print('got', line.strip(), flush=True)\nprint('é', file=sys.stderr)\n")
		},
		func(t *testing.T) CommandSpec {
			return nodeSpec(t, `
const rl = require("readline").createInterface({input: process.stdin});
rl.on("line", l => console.log("got " + l));
rl.on("close", () => console.error("é"));`)
		},
	} {
		t.Run("", func(t *testing.T) {
			s := spec(t)
			start := time.Now()
			c, err := StartCommand(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Stdout.Close()
			for i := range 3 {
				fmt.Fprintf(c.Stdin, "line %d\n", i)
				buf := make([]byte, 100)
				n, err := c.Stdout.Read(buf)
				if want := fmt.Sprintf("got line %d\n", i); err != nil || string(buf[:n]) != want {
					t.Fatalf("got %q, %v, want %q (%s)", buf[:n], err, want, c.Stderr())
				}
				if i == 0 {
					t.Logf("first answer of %s after %v", s.Program, time.Since(start))
				}
			}
			c.Stdin.Close()
			if err := c.Wait(); err != nil || c.Stderr() != "é\n" {
				t.Fatalf("got %v, %q", err, c.Stderr())
			}
		})
	}
}

// tries is a Python program that tries what harm it can and tells how each came out, as JSON.
const tries = `
import json, os, sys, ctypes, signal, socket, resource, threading, mmap
got = {}
def attempt(name, what):
    try:
        got[name] = "done: %r" % (what(),)
    except BaseException as e:
        got[name] = type(e).__name__
def opens(path, mode="r"):
    return lambda: open(path, mode).read(10)
libc = ctypes.CDLL(None, use_errno=True)
def raw(*args):
    def call():
        r = libc.syscall(*args)
        if r < 0:
            raise OSError(ctypes.get_errno(), "")
        return r
    return call
for p in ["/etc/passwd", "/etc/hostname", "/root/.bashrc", "/proc/1/environ", "/proc/self/environ", "/sys/kernel", "/dev/mem", "/dev/tty", "/var/log", sys.argv[1]]:
    attempt("read " + p, opens(p))
attempt("home", lambda: os.listdir("/home"))
attempt("root", lambda: os.listdir("/root"))
attempt("ssh", lambda: os.listdir(os.path.expanduser("~/.ssh")))
for p in ["/x", "/harness/x", "/harness/program.py", "/usr/x", "/usr/bin/python3", "/dev/x", "/dev/shm/x", "/lib/x"]:
    attempt("write " + p, lambda: open(p, "w").write("x"))
attempt("mkdir", lambda: os.mkdir("/y"))
attempt("remove", lambda: os.remove("/harness/program.py"))
attempt("chmod", lambda: os.chmod("/harness/program.py", 0o777))
attempt("fork", os.fork)
attempt("vfork", raw(58))
attempt("clone", raw(56, 17, 0, 0, 0, 0))
attempt("clone new user", raw(56, 0x10000000 | 17, 0, 0, 0, 0))
attempt("clone3", raw(435, 0, 0))
attempt("spawn", lambda: os.posix_spawn("/usr/bin/true", ["true"], {}))
attempt("subprocess", lambda: __import__("subprocess").run(["/usr/bin/true"]))
attempt("system", lambda: os.system("true") and 1 / 0)
attempt("socket", lambda: socket.socket())
attempt("unix socket", lambda: socket.socket(socket.AF_UNIX))
attempt("netlink", lambda: socket.socket(16, socket.SOCK_RAW))
attempt("socketpair", socket.socketpair)
attempt("kill parent", lambda: os.kill(os.getppid(), signal.SIGTERM))
attempt("kill all", lambda: os.kill(-1, signal.SIGKILL))
attempt("kill other", lambda: os.kill(int(sys.argv[2]), 0))
attempt("ptrace", raw(101, 16, 1, 0, 0))
attempt("unshare", raw(272, 0x10000000))
attempt("mount", raw(165, b"x", b"/tmp", b"tmpfs", 0, 0))
attempt("memfd", lambda: os.memfd_create("x"))
attempt("shm", raw(29, 0, 1 << 20, 0o1600))
attempt("io_uring", raw(425, 8, 0))
attempt("bpf", raw(321, 0, 0, 0))
attempt("userfaultfd", raw(323, 0))
attempt("keyctl", raw(250, 0, 0))
attempt("newer than the filter", raw(999))
attempt("raise a limit", lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)))
attempt("limit another", lambda: resource.prlimit(1, resource.RLIMIT_AS, (1, 1)))
attempt("setuid", lambda: os.setuid(0))
attempt("nice", lambda: os.nice(-5))
attempt("descriptors", lambda: [fd for fd in range(3, 200) if not os.fstat(fd)])
state = {
    "env": dict(os.environ), "files": sorted(os.listdir("/")), "dev": sorted(os.listdir("/dev")), "harness": sorted(os.listdir("/harness")),
    "tmp": os.listdir("/tmp"), "uid": os.getuid(), "gid": os.getgid(), "cwd": os.getcwd(), "host": os.uname().nodename,
}
fds = []
for fd in range(200):
    try:
        os.fstat(fd)
        fds.append(fd)
    except OSError:
        pass
state["fds"] = fds
print(json.dumps({"got": got, "state": state}))
`

func TestCommandIsConfined(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("answers"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("API_KEY", "secret")
	spec := pythonSpec(t, tries)
	spec.Args = append(spec.Args, secret, strconv.Itoa(os.Getpid()))
	out, stderr, err := runCommand(t, spec, "")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var told struct {
		Got   map[string]string
		State struct {
			Env                      map[string]string
			Files, Dev, Harness, Tmp []string
			UID, GID                 int
			Cwd, Host                string
			FDs                      []int
		}
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(told.Got) < 45 {
		t.Errorf("got %d attempts: the test exercises less than it should", len(told.Got))
	}
	for name, how := range told.Got {
		if strings.HasPrefix(how, "done") {
			t.Errorf("%s: %s", name, how)
		}
	}
	s := told.State
	if want := map[string]string{"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PWD": "/tmp"}; fmt.Sprint(s.Env) != fmt.Sprint(want) {
		t.Errorf("environment: got %v, want %v", s.Env, want)
	}
	for _, name := range s.Files {
		if !strings.Contains(" bin dev etc harness lib lib32 lib64 libx32 sbin tmp usr ", " "+name+" ") {
			t.Errorf("it sees /%s", name)
		}
	}
	if fmt.Sprint(s.Dev, s.Harness, s.Tmp, s.FDs) != "[null urandom zero] [program.py] [] [0 1 2]" {
		t.Errorf("got devices %v, files %v, in /tmp %v, descriptors %v", s.Dev, s.Harness, s.Tmp, s.FDs)
	}
	if s.UID != nobody || s.GID != nobody || s.Cwd != "/tmp" {
		t.Errorf("got user %d, group %d, directory %s", s.UID, s.GID, s.Cwd)
	}
}

// A 64-bit process can make 32-bit calls, whose numbers mean other things to a filter.
func TestCommandCallsOf32Bits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("only amd64 has them")
	}
	out, stderr, err := runCommand(t, pythonSpec(t, `
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3") # mov eax, 20 (getpid); int 0x80; ret
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))(), flush=True)
`), "")
	if out == "-38\n" && err == nil { // no such call
		return
	}
	t.Logf("%q, %v", out, err)
	var incident *whale.Incident // a kernel without these calls
	if out != "" || !errors.As(err, &incident) {
		t.Errorf("got %q, %v (%s)", out, err, stderr)
	}
}

// Commands beside each other have nothing in common.
func TestCommandsBesideEachOther(t *testing.T) {
	spec := pythonSpec(t, "import os, sys\nopen('/tmp/x', 'x').write('1')\nprint(sys.stdin.read(), os.listdir('/tmp'), os.getpid())")
	for i := range 6 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			out, stderr, err := runCommand(t, spec, strconv.Itoa(i))
			if want := fmt.Sprintf("%d ['x'] 2\n", i); err != nil || out != want {
				t.Errorf("got %q, %v (%s), want %q", out, err, stderr, want)
			}
		})
	}
}

func TestCommandMemory(t *testing.T) {
	for name, source := range map[string]string{
		"bytes":    "b = bytes(1 << 30)",
		"doubling": "s = 'x'\nwhile True: s += s",
		"list":     "l = []\nwhile True: l.append('x' * 100000)",
		"ints":     "n = 1 << (1 << 34)",
		"dict":     "d = {}\ni = 0\nwhile True:\n  d[i] = str(i) * 1000\n  i += 1",
		"shared":   "import mmap\nm = [mmap.mmap(-1, 1 << 24) for _ in range(1000)]",
		"file":     "import mmap, os\nf = open('/tmp/x', 'w+b')\nf.truncate(1 << 40)\nm = mmap.mmap(f.fileno(), 1 << 40)",
	} {
		t.Run(name, func(t *testing.T) {
			spec := pythonSpec(t, source)
			spec.CPU = 10 * time.Second
			out, stderr, err := runCommand(t, spec, "")
			var incident *whale.Incident
			if !errors.As(err, &incident) || incident.Reason != whale.FailMemory {
				t.Fatalf("got %v, want an incident of memory (%s%s)", err, out, stderr)
			}
			if strings.Contains(incident.Detail, "\n") || incident.Detail == "" {
				t.Errorf("got the detail %q, want one line", incident.Detail)
			}
		})
	}
	t.Run("within", func(t *testing.T) {
		out, stderr, err := runCommand(t, pythonSpec(t, `
b = bytearray(90 << 20)
for i in range(0, len(b), 4096): b[i] = 1
try:
    bytearray(100 << 20)
except MemoryError:
    print("refused")
print(len(b) >> 20)`), "")
		if err != nil || out != "refused\n90\n" {
			t.Fatalf("got %q, %v (%s)", out, err, stderr)
		}
	})
}

func TestCommandThreads(t *testing.T) {
	start := time.Now()
	out, stderr, err := runCommand(t, pythonSpec(t, `
import _thread, os
_thread.stack_size(32 << 10)
hold = _thread.allocate_lock()
hold.acquire()
n = 0
try:
    while n < 100000:
        _thread.start_new_thread(hold.acquire, ())
        n += 1
except (RuntimeError, MemoryError):
    pass
os.write(1, b"%d\n" % n)
os._exit(0)
`), "")
	n, convErr := strconv.Atoi(strings.TrimSpace(out))
	if err != nil || convErr != nil || n < 1 || n > 20000 {
		t.Fatalf("got %q threads, %v (%s), want some and not many", out, err, stderr)
	}
	t.Logf("%d threads in %v", n, time.Since(start))
}

func TestCommandTmp(t *testing.T) {
	spec := pythonSpec(t, `
import os
def fill():
    n = 0
    try:
        with open("/tmp/big", "wb", buffering=0) as f:
            while n < 1 << 40:
                n += f.write(b"x" * 65536)
    except OSError as e:
        return n, e.errno
n, errno = fill()
os.remove("/tmp/big")
files = 0
try:
    while files < 100000:
        os.close(os.open("/tmp/f%d" % files, os.O_CREAT | os.O_WRONLY))
        files += 1
except OSError as e:
    pass
print(n, errno, files)
`)
	spec.Tmp, spec.TmpFiles = 1<<20, 50
	for range 2 { // the second finds nothing of the first
		out, stderr, err := runCommand(t, spec, "")
		if want := fmt.Sprintf("%d 28 50\n", 1<<20); err != nil || out != want {
			t.Fatalf("got %q, %v (%s), want %q", out, err, stderr, want)
		}
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), "nr_inodes=51") {
		t.Errorf("%v, or the mount of a command is here too", err)
	}
}

func TestCommandOutcomes(t *testing.T) {
	incident := func(reason whale.FailReason) func(error) bool {
		return func(err error) bool {
			var i *whale.Incident
			return errors.As(err, &i) && i.Reason == reason && !strings.Contains(i.Detail, "\n")
		}
	}
	exit := func(code int, detail string) func(error) bool {
		return func(err error) bool {
			var e *ExitError
			return errors.As(err, &e) && e.Code == code && e.Detail == detail
		}
	}
	for name, c := range map[string]struct {
		source string
		want   func(error) bool
	}{
		"error":     {"x = 1 / 0", exit(1, "ZeroDivisionError: division by zero")},
		"status":    {"import sys\nprint('why', file=sys.stderr)\nsys.exit(3)", exit(3, "why")},
		"abort":     {"import os\nos.abort()", incident(whale.FailWorker)},
		"fault":     {"import ctypes\nctypes.string_at(0)", incident(whale.FailWorker)},
		"processor": {"while True: pass", incident(whale.FailWall)},
		"stubborn":  {"import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", incident(whale.FailWorker)},
		"recursion": {"def f(): f()\nf()", exit(1, "RecursionError: maximum recursion depth exceeded")},
		// The end of what a program says is kept as well as its beginning.
		"noise": {"import sys\nsys.stderr.write('x' * 1000000 + '\\nlast words\\n')\nsys.exit(4)", exit(4, "last words")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := pythonSpec(t, c.source)
			spec.CPU = time.Second
			_, stderr, err := runCommand(t, spec, "")
			if !c.want(err) {
				t.Errorf("got %#v (%v)", err, err)
			}
			if len(stderr) > 10<<10 {
				t.Errorf("got %d bytes of standard error", len(stderr))
			}
		})
	}
}

func BenchmarkCommand(b *testing.B) {
	for name, spec := range map[string]CommandSpec{"python": Python("", commandMemory), "node": Node("", commandMemory)} {
		b.Run(name, func(b *testing.B) {
			if _, err := os.Stat(spec.Program); err != nil {
				b.Skip(err)
			}
			spec.Files = []File{{Name: "program", Data: nil}}
			spec.Args = append(spec.Args, FilesDir+"/program")
			for b.Loop() {
				c, err := StartCommand(b.Context(), spec)
				if err != nil {
					b.Fatal(err)
				}
				c.Stdin.Close()
				if err := c.Wait(); err != nil {
					b.Fatal(err)
				}
				c.Stdout.Close()
			}
		})
	}
}
