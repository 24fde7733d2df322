package metaharness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-095d5d2b/whale"
)

// archive is what a phase knows of programs, and the folder that shows it.
type archive struct {
	dir     string
	entries []Entry // every program that was decided, in order; the incoming harness first
	current int     // index of the accepted entry; -1 before the first choice
}

// newArchive makes the folder anew.
func newArchive(dir, about string, c Config) (*archive, error) {
	a := &archive{dir: dir, current: -1}
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	for _, sub := range []string{"harnesses", "rejected", "reports"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, fmt.Errorf("archive: %w", err)
		}
	}
	library, err := libraryJSON()
	if err != nil {
		return nil, fmt.Errorf("archive: library: %w", err)
	}
	if err := a.write("library.json", library); err != nil {
		return nil, err
	}
	return a, a.write("README.md", []byte(readme(about, c.Candidates, c.Selection)))
}

// write replaces a file as a whole.
func (a *archive) write(name string, data []byte) error {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path+".tmp", data, 0o644); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}

// accepted is the entry that the search would return now.
func (a *archive) accepted() Entry { return a.entries[a.current] }

// accept makes an entry the accepted one, and says whether that is another one than before.
func (a *archive) accept(i int) bool {
	before := a.current
	a.current = i
	return i != before
}

// find gives the evaluated program with an id.
func (a *archive) find(id whale.ID) (Entry, bool) {
	for _, e := range a.entries {
		if e.ID == id && e.Status == StatusEvaluated {
			return e, true
		}
	}
	return Entry{}, false
}

// add takes a decided program in, and puts its folder, staged before, in place where it was evaluated.
func (a *archive) add(e Entry) error {
	if _, known := a.find(e.Parent); e.Parent != "" && !known {
		e.Note = fmt.Sprintf("%s.json: parent: %q is not the id of an evaluated program", e.Name, e.Parent)
		e.Parent = ""
	}
	a.entries = append(a.entries, e)
	switch {
	case e.Status == StatusEvaluated:
		return a.place(e)
	case e.Gate == GateDuplicate:
		return nil
	default:
		return a.write("rejected/"+string(e.ID)+".star", []byte(e.Source))
	}
}

// staged is where the folder of an evaluated program lies until it has its place in the archive.
func (a *archive) staged(id whale.ID) string {
	return filepath.Join(a.dir, "harnesses", ".new-"+string(id))
}

// stage writes all of an evaluated program's folder that does not depend on other programs. It may be called from many goroutines, for
// different programs.
func (a *archive) stage(c Candidate, score Score, rollouts []whale.Rollout) error {
	dir := a.staged(c.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	files, err := evidenceFiles(c, score, rollouts)
	if err != nil {
		return fmt.Errorf("archive: harness %s: %w", c.ID, err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
	}
	return nil
}

// place makes harnesses/<id>/ of what was staged, complete or not at all.
func (a *archive) place(e Entry) error {
	meta, err := encode(a.line(e), "  ")
	if err != nil {
		return fmt.Errorf("archive: harness %s: %w", e.ID, err)
	}
	if err := os.WriteFile(filepath.Join(a.staged(e.ID), "meta.json"), meta, 0o644); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if err := os.Rename(a.staged(e.ID), filepath.Join(a.dir, "harnesses", string(e.ID))); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}

type file struct {
	name string
	data []byte
}

// evidenceFiles are a program and what its episodes showed.
func evidenceFiles(c Candidate, score Score, rollouts []whale.Rollout) ([]file, error) {
	var outcomes, trajectories bytes.Buffer
	size := min(maxTrajectory, max(minTrajectory, maxTrajectories/max(1, len(rollouts))))
	for i := range rollouts {
		outcome, err := encode(outcomeOf(i+1, &rollouts[i]), "")
		if err != nil {
			return nil, err
		}
		trajectory, err := trajectoryLine(i+1, &rollouts[i], size)
		if err != nil {
			return nil, err
		}
		outcomes.Write(outcome)
		trajectories.Write(trajectory)
	}
	failures := failuresMarkdown(&score, rollouts)
	score.Weights = "" // no concern of a proposer: all scores of an archive are of the same weights
	scoreJSON, err := encode(score, "  ")
	if err != nil {
		return nil, err
	}
	return []file{
		{"harness.star", []byte(c.Source)},
		{"score.json", scoreJSON},
		{"outcomes.jsonl", outcomes.Bytes()},
		{"trajectories.jsonl", trajectories.Bytes()},
		{"failures.md", []byte(failures)},
	}, nil
}

// line is an entry's line of the index.
func (a *archive) line(e Entry) IndexLine {
	l := IndexLine{
		ID: e.ID, Name: e.Name, Status: e.Status, Gate: e.Gate, Reason: e.Reason, Session: e.Session,
		Parent: e.Parent, Axis: e.Axis, Operators: e.Operators, Hypothesis: e.Hypothesis, Note: e.Note, Partial: e.Partial,
	}
	if e.Score == nil {
		return l
	}
	l.Mean, l.Sampled = &e.Score.Mean, e.Score.SampledTokens
	if e.Session >= 0 {
		base, ok := a.find(e.Parent)
		if !ok {
			base = a.entries[0]
		}
		delta := e.Score.Mean - base.Score.Mean
		l.Delta = &delta
	}
	return l
}

// writeIndex writes index.jsonl.
func (a *archive) writeIndex() error {
	var b bytes.Buffer
	for i, e := range a.entries {
		l := a.line(e)
		l.Accepted = i == a.current
		data, err := encode(l, "")
		if err != nil {
			return fmt.Errorf("archive: index: %w", err)
		}
		b.Write(data)
	}
	return a.write("index.jsonl", b.Bytes())
}
