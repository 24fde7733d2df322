package recipe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/task"
)

// Outlook is what a plan needs to know of what a config names, as far as this machine holds it.
type Outlook struct {
	Counts    Counts
	Unread    string        // why the counts are those of task.counts; empty where they were read from the data
	Memory    *local.Memory // nil where the model is not here
	ModelAway string        // why it is not here
	Isolation string        // how untrusted code is confined on this machine
	Confined  bool          // by every mechanism that there is
	Notes     []string      // lines that a person should read about the data
}

// Survey looks at what a config names without running anything of it. Data that is not on the machine is replaced by task.counts, a model that is
// not by nothing; both are said. What is there and cannot be used is an error, as it would be for a run.
func Survey(ctx context.Context, c Config, prog Program, use Resources) (*Outlook, error) {
	p := &Parts{Config: c}
	defer p.Close()
	if err := p.openHarnesses(use); err != nil {
		return nil, err
	}
	if _, err := p.Harness(prog); err != nil {
		return nil, err
	}
	o := new(Outlook)
	var err error
	if o.Isolation, o.Confined, err = p.Isolation(ctx); err != nil {
		return nil, err
	}
	if o.ModelAway = c.Policy.away(); o.ModelAway == "" {
		if err := p.openModel(); err != nil {
			return nil, err
		}
		m, err := p.Memory(use.Workers)
		if err != nil {
			return nil, err
		}
		o.Memory = &m
	}
	var away *task.AwayError
	if err := p.openTask(ctx, use); errors.As(err, &away) {
		if o.Counts, o.Unread, err = undeclared(c.Task.Counts, err); err != nil {
			return nil, err
		}
		return o, nil
	} else if err != nil {
		return nil, err
	}
	o.Notes = p.Notes()
	o.Counts, err = p.Counts()
	return o, err
}

// undeclared plans without the data: with what is declared, or not at all.
func undeclared(d DeclaredCounts, missing error) (Counts, string, error) {
	n, err := d.counts()
	if err != nil {
		return n, "", &InputError{fmt.Errorf("%w; %w", missing, err)}
	}
	return n, missing.Error(), nil
}

// away says why the model is not on this machine; empty where it is.
func (c PolicyConfig) away() string {
	if c.Kind != PolicyLocal {
		return fmt.Sprintf("%s, of policy.kind %s", c.Model, c.Kind)
	}
	if slices.Contains(local.EmbeddedModels(), c.Model) {
		return ""
	}
	if _, err := os.Stat(c.Model); errors.Is(err, fs.ErrNotExist) {
		return c.Model + ": no such folder or file"
	}
	return ""
}
