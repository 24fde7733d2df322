package recipe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/audit"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// The names of the gates that a config turns on.
const (
	gateAudit      = string(harness.GateAudit)
	gatePromptOnly = string(harness.GatePromptOnly)
)

// gates are the checks of a phase's candidates between the duplicate check and the canary episodes (design, section 5).
func (r *Run) gates() ([]metaharness.Gate, error) {
	var out []metaharness.Gate
	if r.Config.Search.Audit {
		corpus, err := r.seenCorpus()
		if err != nil {
			return nil, err
		}
		out = append(out, metaharness.Gate{Name: gateAudit, Check: func(_ context.Context, h whale.Harness) error {
			found, err := corpus.Audit("candidate"+harness.Extension(h.Language()), h.Source())
			if err != nil {
				return err
			}
			return refusal(found)
		}})
	}
	if r.Config.promptOnly() {
		incoming := r.base.Source() // the same outline as the phase's incoming one
		out = append(out, metaharness.Gate{Name: gatePromptOnly, Check: func(_ context.Context, h whale.Harness) error {
			return star.PromptOnly(incoming, h.Source())
		}})
	}
	return out, nil
}

// promptOnly says whether candidates may change the two prompt constants alone.
func (c Config) promptOnly() bool { return c.Search.PromptOnly || c.Schedule.Method == MethodFST }

// refusal tells the author of a candidate what the audit found, one finding a line.
func refusal(found []audit.Finding) error {
	if len(found) == 0 {
		return nil
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, fmt.Sprintf("%d:%d: %s: %s", f.Line, f.Col, f.Rule, f.Message))
		if f.Suggestion != "" {
			lines[len(lines)-1] += " (" + f.Suggestion + ")"
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// seenCorpus is what a candidate may not quote: the training and search examples. It is read once a run.
func (r *Run) seenCorpus() (*audit.Corpus, error) {
	if r.corpus == nil {
		c, err := r.Corpus(whale.SplitTrain, whale.SplitSearch)
		if err != nil {
			return nil, err
		}
		r.corpus = c
	}
	return r.corpus, nil
}

// Corpus makes the audit's corpus of a task's splits.
func (p *Parts) Corpus(splits ...whale.Split) (*audit.Corpus, error) {
	var examples []whale.Example
	names := []string{}
	for _, s := range splits {
		xs, err := p.Task.Examples(s)
		if err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
		examples = append(examples, xs...)
		for _, x := range xs {
			if source := x.Meta["source"]; source != "" && !slices.Contains(names, source) {
				names = append(names, source)
			}
		}
	}
	c, err := audit.NewCorpus(examples, audit.Options{Names: names, Public: []string{p.Task.About()}})
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return c, nil
}

// auditTest audits a harness against the test split, for people's eyes alone: nothing of it goes to a proposer (design, invariant 5).
func (r *Run) auditTest(h whale.Harness) ([]audit.Finding, error) {
	if !r.Config.Search.Audit || r.Config.Evaluation.Closes(whale.SplitTest) {
		return nil, nil
	}
	c, err := r.Corpus(whale.SplitTest)
	if err != nil {
		return nil, err
	}
	return c.Audit("harness"+harness.Extension(h.Language()), h.Source())
}
