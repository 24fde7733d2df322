package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCreateRefuses(t *testing.T) {
	r := newRun(t)
	t.Run("a run", func(t *testing.T) {
		_, err := Create(r.Dir(), nil, testOptions)
		if !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "resume it or choose another name") {
			t.Fatalf("got %v, want ErrExists with advice", err)
		}
	})
	t.Run("foreign files", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Create(dir, nil, testOptions)
		if !errors.Is(err, ErrNotRun) || !strings.Contains(err.Error(), "thesis.tex") {
			t.Fatalf("got %v, want ErrNotRun that names the file", err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Fatalf("got %d entries, want the directory untouched", len(entries))
		}
	})
	t.Run("a foreign folder that has a name of ours", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "weights"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(dir, nil, testOptions); !errors.Is(err, ErrNotRun) {
			t.Fatalf("got %v, want ErrNotRun", err)
		}
	})
	t.Run("no clock", func(t *testing.T) {
		if _, err := Create(t.TempDir(), nil, Options{}); err == nil {
			t.Fatal("got nil, want an error")
		}
	})
}

func TestCreateStartsOverAfterAKill(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"lock": "999\n", "journal.db": "half", "journal.db-wal": "x", "journal.db-shm": "x", "journal.db-journal": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir, testOptions); !errors.Is(err, ErrNotRun) {
		t.Fatalf("open of half a run: got %v, want ErrNotRun", err)
	}
	r, err := Create(dir, []byte("a: 1\n"), testOptions)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestConfigAndReopen(t *testing.T) {
	r := newRun(t)
	r = reopen(t, r)
	if got := string(r.Config()); got != "name: test\n" {
		t.Fatalf("got config %q", got)
	}
	r.Config()[0] = 'X'
	if r.Config()[0] != 'n' {
		t.Fatal("Config handed out its own memory")
	}
}

func TestOpenNotARun(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := Open(dir, testOptions); !errors.Is(err, ErrNotRun) {
			t.Errorf("open %s: got %v, want ErrNotRun", dir, err)
		}
		if _, err := OpenReadOnly(dir); !errors.Is(err, ErrNotRun) {
			t.Errorf("open read-only %s: got %v, want ErrNotRun", dir, err)
		}
	}
}

func TestLockWithinAProcess(t *testing.T) {
	r := newRun(t)
	_, err := Open(r.Dir(), testOptions)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !errors.Is(err, ErrLocked) {
		t.Fatalf("got %v, want a LockedError with process %d", err, os.Getpid())
	}
}

// childHold opens a run, says so, and keeps it until it is killed.
func childHold(args []string) error {
	r, err := Open(args[0], testOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	fmt.Println("open")
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	return err
}

func TestLockAcrossProcesses(t *testing.T) {
	r := newRun(t)
	dir := r.Dir()
	if _, err := r.Append(t.Context(), "k", "1", 1); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := child(t, "hold", dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "open\n" {
		t.Fatalf("child: got %q %v", line, err)
	}
	_, err = Open(dir, testOptions)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != cmd.Process.Pid {
		t.Errorf("got %v, want a LockedError with process %d", err, cmd.Process.Pid)
	}
	ro, err := OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	if events, err := ro.Events(t.Context()); err != nil || len(events) != 1 {
		t.Errorf("read-only beside a writer: got %d events, %v, want 1", len(events), err)
	}
	if err := ro.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	again, err := Open(dir, testOptions)
	if err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	again.Close()
}

func TestReadOnlyRefusesWrites(t *testing.T) {
	r := newRun(t)
	ro, err := OpenReadOnly(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	rr, tr := row(1)
	for name, f := range map[string]func() error{
		"append":   func() error { _, err := ro.Append(t.Context(), "a", "b", 1); return err },
		"rollout":  func() error { return ro.PutRollout(t.Context(), rr, tr) },
		"charge":   func() error { return ro.Charge(t.Context(), "a", Item{"p", map[string]float64{"n": 1}}) },
		"file":     func() error { return ro.WriteFile("report/a", nil) },
		"harness":  func() error { return ro.PutHarness("h", ".star", nil) },
		"weights":  func() error { return ro.WriteWeights("w", func(string) error { return nil }) },
		"rmweight": func() error { return ro.RemoveWeights("w") },
	} {
		if err := f(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: got %v, want ErrReadOnly", name, err)
		}
	}
}

func TestClosed(t *testing.T) {
	r := newRun(t)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Append(t.Context(), "a", "b", 1); !errors.Is(err, ErrClosed) {
		t.Fatalf("got %v, want ErrClosed", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedJournal(t *testing.T) {
	damage := map[string]func(path string) error{
		"empty":     func(p string) error { return os.Truncate(p, 0) },
		"cut short": func(p string) error { return os.Truncate(p, 5000) },
		"cut to whole pages": func(p string) error {
			info, err := os.Stat(p)
			if err != nil {
				return err
			}
			return os.Truncate(p, info.Size()-4096*3)
		},
		"no database": func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("not a database ", 1000)), 0o644) },
		"missing":     os.Remove,
		"overwritten pages": func(p string) error {
			f, err := os.OpenFile(p, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt([]byte(strings.Repeat("\xff\x01garbage", 2000)), 4096*3)
			return err
		},
	}
	for name, do := range damage {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			for i := range 200 {
				if _, err := r.Append(t.Context(), "k", fmt.Sprint(i), strings.Repeat("x", 300)); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(r.Dir(), "journal.db")
			if err := do(path); err != nil {
				t.Fatal(err)
			}
			_, err := Open(r.Dir(), testOptions)
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("got %v, want ErrCorrupt", err)
			}
			if text := err.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, path+": ") {
				t.Fatalf("got %q, want one line that begins with the path", text)
			}
			// A failed Open leaves no lock behind.
			if _, err := Open(r.Dir(), testOptions); errors.Is(err, ErrLocked) {
				t.Fatal(err)
			}
		})
	}
}

// After Close the journal alone is the run: a copy without the log holds everything, also when somebody looked at the run meanwhile.
func TestJournalAloneAfterClose(t *testing.T) {
	for _, watched := range []bool{false, true} {
		t.Run(fmt.Sprint("watched ", watched), func(t *testing.T) {
			ctx := t.Context()
			r := newRun(t)
			var watcher *Run
			if watched {
				var err error
				if watcher, err = OpenReadOnly(r.Dir()); err != nil {
					t.Fatal(err)
				}
				defer watcher.Close()
			}
			const n = 300
			for i := range n {
				if _, err := r.Append(ctx, "step", fmt.Sprint(i), map[string]int{"i": i}); err != nil {
					t.Fatal(err)
				}
				// Readers of both kinds have connections open.
				for _, reader := range []*Run{r, watcher} {
					if i%100 != 0 || reader == nil {
						continue
					}
					if events, err := reader.Events(ctx); err != nil || len(events) != i+1 {
						t.Fatalf("got %d events, %v, want %d", len(events), err, i+1)
					}
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(filepath.Join(r.Dir(), journalName+"-wal")); err == nil && info.Size() > 0 {
				t.Errorf("the log still has %d bytes", info.Size())
			}
			alone := t.TempDir()
			for _, name := range []string{configName, journalName} {
				data, err := os.ReadFile(filepath.Join(r.Dir(), name))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(alone, name), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			replica, err := OpenReadOnly(alone)
			if err != nil {
				t.Fatal(err)
			}
			defer replica.Close()
			if events, err := replica.Events(ctx); err != nil || len(events) != n {
				t.Errorf("the journal alone has %d events, %v, want %d", len(events), err, n)
			}
		})
	}
}
