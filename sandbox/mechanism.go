package sandbox

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Mechanism is one of the things that confine what runs here.
type Mechanism struct {
	Name    string `json:"name"`
	InForce bool   `json:"in_force"`
	Detail  string `json:"detail"` // one line: what it does, or why it does not
}

func (m Mechanism) String() string {
	if m.InForce {
		return m.Name + ": " + m.Detail
	}
	return m.Name + ": missing: " + m.Detail
}

// The names of the mechanisms, in the order in which [Probe] tells them. The first five are those of a worker, the last is that of a
// [Command].
const (
	MechanismProcess    = "process"      // a process of its own without environment and descriptors, that dies with its parent
	MechanismMemory     = "memory limit" // RLIMIT_AS and RLIMIT_DATA
	MechanismLandlock   = "landlock"     // no files, no TCP, no signals to others
	MechanismSeccomp    = "seccomp"      // only the system calls that a running Go program needs
	MechanismNamespaces = "namespaces"   // user, pid, net, ipc, uts, mount
	MechanismBubblewrap = "bubblewrap"   // foreign programs
)

// probeEntry is the entry that answers nothing: a worker that only tells how it is confined. No program can give another under this name.
const probeEntry = "__probe"

// Probe says which mechanisms work here, by trying them: it starts a worker of this binary, which must call [Main], and an empty
// bubblewrap. It takes some 50 ms. The error is that no worker starts at all.
func Probe(ctx context.Context) ([]Mechanism, error) {
	c, err := newCrew(nil)
	if err != nil {
		return nil, err
	}
	defer func() { c.killAll(); c.buryAll() }()
	w, err := c.start(ctx, hello{Entry: probeEntry, Memory: MinMemory})
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(w.mechanisms), probeBubblewrap(ctx, findBubblewrap)), nil
}

// Require is the error that mechanisms are missing, an [ErrUnconfined] that names each; nil if none is.
func Require(all []Mechanism) error {
	var missing []string
	for _, m := range all {
		if !m.InForce {
			missing = append(missing, fmt.Sprintf("%s (%s)", m.Name, m.Detail))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: missing: %s", ErrUnconfined, strings.Join(missing, "; "))
}

// confineBy sets how the workers of a new crew are confined. Where all mechanisms are required it starts a worker to see, and has every later
// one checked as well; the crew is closed after an error.
func (c *crew) confineBy(without []string, required bool, h hello) error {
	c.without, c.required = without, required
	if !required {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	w, err := c.start(ctx, h)
	if err != nil {
		c.killAll()
		c.buryAll()
		return err
	}
	c.bury(w)
	return nil
}

// probeTime bounds the trial of bubblewrap, which takes some 10 ms.
const probeTime = 10 * time.Second

// probeBubblewrap tries to run a program that every system with bubblewrap has: bubblewrap, which is to tell its version.
func probeBubblewrap(ctx context.Context, find func() (string, error)) Mechanism {
	missing := func(err error) Mechanism { return Mechanism{MechanismBubblewrap, false, err.Error()} }
	program, err := find()
	if err != nil {
		return missing(err)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	spec := Python(program, MinCommandMemory)
	spec.Args = []string{"--version"}
	c, err := StartCommand(ctx, spec)
	if err != nil {
		return missing(err)
	}
	c.Stdin.Close()
	defer c.Stdout.Close()
	out, err := io.ReadAll(io.LimitReader(c.Stdout, 1<<10))
	if err == nil {
		err = c.Wait()
	}
	if err != nil {
		return missing(err)
	}
	return Mechanism{MechanismBubblewrap, true, firstLine(string(out))}
}
