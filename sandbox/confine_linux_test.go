package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newPlace is the world outside of the workers of a test.
func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	p := place{parent: os.Getpid(), secret: filepath.Join(dir, "secret"), hidden: fmt.Sprintf("@whale-test-%d", os.Getpid())}
	for _, name := range []string{p.secret, p.secret + ".old"} {
		if err := os.WriteFile(name, []byte("answers"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []struct {
		network, address string
		told             *string
	}{{"tcp", "127.0.0.1:0", &p.tcp}, {"unix", filepath.Join(dir, "s"), &p.unix}, {"unix", p.hidden, &p.hidden}} {
		listener, err := net.Listen(l.network, l.address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		*l.told = listener.Addr().String()
	}
	return p
}

// tried runs all attempts in a worker and returns those that succeeded.
func tried(t *testing.T, without ...string) (done []string) {
	t.Helper()
	p, err := NewPool(Options{Spec: testSpec, Workers: 1, without: without})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := do(t, p, "try "+newPlace(t).String())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out, "\n"); n != len(attempts) {
		t.Fatalf("got %d outcomes, want %d:\n%s", n, len(attempts), out)
	}
	for line := range strings.Lines(out) {
		if name, ok := strings.CutSuffix(line, ": done\n"); ok {
			done = append(done, name)
		}
	}
	t.Log(out)
	return done
}

// need skips a test where the system lacks a mechanism.
func need(t *testing.T, mechanism string) {
	t.Helper()
	all, err := Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Name == mechanism && !m.InForce {
			t.Skip(m)
		}
	}
}

func TestWorkerIsConfined(t *testing.T) {
	if done := tried(t); len(done) > 0 {
		t.Errorf("a worker can %s", strings.Join(done, "; "))
	}
}

// Each mechanism holds by itself what it is there for, so that one that fails, or that a system lacks, does not open what another closes.
func TestMechanismsAlone(t *testing.T) {
	all := map[string]string{"l": MechanismLandlock, "s": MechanismSeccomp, "n": MechanismNamespaces}
	for letter, name := range all {
		t.Run(name, func(t *testing.T) {
			need(t, name)
			var without []string
			for _, other := range all {
				if other != name {
					without = append(without, other)
				}
			}
			done := tried(t, without...)
			for _, a := range attempts {
				if strings.Contains(a.by, letter) && slices.Contains(done, a.name) {
					t.Errorf("with %s alone a worker can %s", name, a.name)
				}
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("what another user than root may do depends on the system")
		}
		done := tried(t, MechanismLandlock, MechanismSeccomp, MechanismNamespaces)
		for _, a := range attempts { // that fail anyway prove nothing
			if can := slices.Contains(done, a.name); can == strings.Contains(a.by, "p") {
				t.Errorf("without any mechanism a worker can %s: got %v, want %v", a.name, can, !can)
			}
		}
	})
}

func TestWorkerWorksConfined(t *testing.T) {
	p := newPool(t, 2, func(s *Spec) { s.Wall = time.Minute })
	for range 2 {
		if got, err := do(t, p, "churn 8"); err != nil || got != "12:00AM" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	if len(pids(p)) != 1 {
		t.Error("a worker died on the way")
	}
}

func TestProbe(t *testing.T) {
	all, err := Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range all {
		t.Log(m)
		names = append(names, m.Name)
		if m.Detail == "" || strings.Contains(m.Detail, "\n") {
			t.Errorf("%s: got the detail %q, want one line", m.Name, m.Detail)
		}
	}
	want := []string{MechanismProcess, MechanismMemory, MechanismLandlock, MechanismSeccomp, MechanismNamespaces, MechanismBubblewrap}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestMissingMechanismsAreReported(t *testing.T) {
	for _, without := range [][]string{
		nil, {MechanismMemory}, {MechanismLandlock}, {MechanismSeccomp}, {MechanismNamespaces},
		{MechanismMemory, MechanismLandlock, MechanismSeccomp, MechanismNamespaces},
	} {
		t.Run(fmt.Sprint(without), func(t *testing.T) {
			p, err := NewPool(Options{Spec: testSpec, Workers: 1, without: without})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if got, err := do(t, p, "echo x"); err != nil || got != "x" {
				t.Fatalf("got %q, %v", got, err)
			}
			for w := range p.all {
				for _, m := range w.mechanisms {
					if off := slices.Contains(without, m.Name); off && (m.InForce || m.Detail != switchedOff) {
						t.Errorf("got %v, want it missing", m)
					} else if !off && !m.InForce {
						t.Logf("this system: %v", m)
					}
				}
			}
		})
	}
}

func TestRequire(t *testing.T) {
	// What this system lacks is missing too.
	var lacks []string
	all, err := Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if !m.InForce && m.Name != MechanismBubblewrap {
			lacks = append(lacks, m.Name)
		}
	}
	open := map[string]func([]string) (func(), error){
		"pool": func(without []string) (func(), error) {
			p, err := NewPool(Options{Spec: testSpec, Workers: 1, Require: true, without: without})
			if err != nil {
				return nil, err
			}
			return p.Close, nil
		},
		"group": func(without []string) (func(), error) {
			g, err := NewGroup(GroupOptions{
				Entry: "stream", Memory: testSpec.Memory, MaxMessage: 1000, Workers: 1, PerWorker: 1, Require: true, without: without,
			})
			if err != nil {
				return nil, err
			}
			return g.Close, nil
		},
	}
	for _, without := range [][]string{
		nil, {MechanismMemory}, {MechanismLandlock}, {MechanismSeccomp}, {MechanismNamespaces}, {MechanismMemory, MechanismSeccomp},
	} {
		for what, open := range open {
			t.Run(fmt.Sprint(what, without), func(t *testing.T) {
				end, err := open(without)
				if err == nil {
					end()
				}
				missing := append(slices.Clone(lacks), without...)
				if len(missing) == 0 {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if !errors.Is(err, ErrUnconfined) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("got %v, want ErrUnconfined in one line", err)
				}
				for _, m := range all[:5] {
					if got := strings.Contains(err.Error(), m.Name+" ("); got != slices.Contains(missing, m.Name) {
						t.Errorf("got %q: it should name %q", err, missing)
					}
				}
			})
		}
	}
}

func TestBubblewrapMissing(t *testing.T) {
	for name, find := range map[string]func() (string, error){
		"not there": func() (string, error) { return "", fmt.Errorf("%w: no bubblewrap", ErrStart) },
		"broken":    func() (string, error) { return "/bin/false", nil },
	} {
		m := probeBubblewrap(t.Context(), find)
		if m.InForce || m.Name != MechanismBubblewrap || m.Detail == "" {
			t.Errorf("%s: got %v", name, m)
		}
		err := Require([]Mechanism{{MechanismProcess, true, "x"}, m})
		if !errors.Is(err, ErrUnconfined) || !strings.Contains(err.Error(), "missing: bubblewrap (") {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
		t.Log(err)
	}
}

// Some systems grant namespaces and then no right to mount in them. The worker is confined by the rest, and says so.
func TestNamespacesWithTheSystemsFiles(t *testing.T) {
	need(t, MechanismNamespaces)
	p, err := NewPool(Options{Spec: testSpec, Workers: 1, without: []string{partFiles}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := do(t, p, "try "+newPlace(t).String())
	if err != nil || strings.Contains(out, ": done") {
		t.Errorf("got %v, %s", err, out)
	}
	for w := range p.all {
		for _, m := range w.mechanisms {
			if m.Name == MechanismNamespaces && (m.InForce || !strings.Contains(m.Detail, switchedOff)) {
				t.Errorf("got %v, want it missing", m)
			}
		}
	}
}

func TestProgramWithoutMain(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"x", "run"}, {"x", "y", workerArg}, nil} {
		if err := checkMain(args); err != nil {
			t.Errorf("%q: got %v, want nil", args, err)
		}
	}
	first, err := CommandSpec{}.firstStage(4)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{append([]string{"x"}, stage{}.arguments()...), first} {
		if err := checkMain(args); !errors.Is(err, ErrStart) {
			t.Errorf("%q: got %v, want ErrStart", args, err)
		}
	}
}

func TestCloseListed(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	low, high := int(min(r.Fd(), w.Fd())), int(max(r.Fd(), w.Fd()))
	for _, fd := range []int{low, high} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := closeListed(high); err != nil {
		t.Fatal(err)
	}
	for fd, want := range map[int]int{low: 0, high: unix.FD_CLOEXEC} {
		if got, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || got != want {
			t.Errorf("descriptor %d: got %d, %v, want %d", fd, got, err, want)
		}
	}
}

func TestWrapper(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPool(Options{Command: []string{"/usr/bin/env", "NAME=value", self}, Spec: testSpec, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if out, err := do(t, p, "try "+newPlace(t).String()); err != nil || strings.Contains(out, ": done") {
		t.Errorf("got %v, %s", err, out)
	}
}

// A pool that requires the mechanisms looks at every worker, not only at the first.
func TestRequiredOfEveryWorker(t *testing.T) {
	c, err := newCrew(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { c.killAll(); c.buryAll() }()
	if err := c.confineBy(nil, true, testSpec.hello()); err != nil {
		t.Skip(err)
	}
	c.without = []string{MechanismSeccomp} // as if the system had changed
	if w, err := c.start(t.Context(), testSpec.hello()); !errors.Is(err, ErrUnconfined) || w != nil {
		t.Errorf("got %v, want ErrUnconfined", err)
	}
	if len(c.all) != 0 {
		t.Errorf("%d workers are left", len(c.all))
	}
}

// What a worker started ends with it, even where it can start something and lets go of it.
func TestNamespaceEndsWithItsWorker(t *testing.T) {
	need(t, MechanismNamespaces)
	p, err := NewPool(Options{Spec: testSpec, Workers: 1, without: []string{MechanismLandlock, MechanismSeccomp}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	mark := fmt.Sprintf("mark-child-%d", os.Getpid())
	if got, err := do(t, p, "leave "+mark); err != nil || got != "left" {
		t.Fatalf("got %q, %v", got, err)
	}
	if len(marked(t, mark)) != 1 {
		t.Fatal("the test does not see the process")
	}
	p.Close()
	if left := marked(t, mark); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

func BenchmarkStart(b *testing.B) {
	for name, without := range map[string][]string{
		"confined": nil, "plain": {MechanismSeccomp, MechanismLandlock, MechanismNamespaces},
	} {
		b.Run(name, func(b *testing.B) {
			c, err := newCrew(nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { c.killAll(); c.buryAll() }()
			c.without = without
			for b.Loop() {
				w, err := c.start(b.Context(), testSpec.hello())
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				c.bury(w)
				b.StartTimer()
			}
		})
	}
}
