package recipe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/policy/chat"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/store"
)

// The names of moments that every run has.
const (
	MomentStart  = "start"  // (θ_0, h_0)
	MomentFinal  = "final"  // what a finished run ended with
	MomentLatest = "latest" // what a run that is not finished has come to; of a finished one another name of its end
)

// Moment is a pair of weights and harness that a run had: at its start, after a rollout step, a phase or a cycle, or at the end.
type Moment struct {
	Name    string   `json:"name"`  // start, step-000012, 1-harness, cycle0, 0-harness/12 (a curve point inside of a phase), final or latest
	Steps   int      `json:"steps"` // rollout steps before it
	Weights whale.ID `json:"weights"`
	Harness whale.ID `json:"harness"`

	source string // of the harness, as journaled
}

// Moments lists the moments of a run, in order; the last is [MomentFinal]. Those of an unfinished run are the ones that it has behind it, and the last
// is [MomentLatest].
func (st *Story) Moments() []Moment {
	now := Moment{Name: MomentStart, Weights: st.Begin.Weights, Harness: st.Begin.Harness, source: st.Begin.Source}
	list := []Moment{now}
	step := 0
	for i, ph := range st.Phases {
		for ; step < len(st.Steps) && st.Steps[step].Phase <= i; step++ {
			now.Name, now.Steps, now.Weights = snapshotID(st.Steps[step].Step), st.Steps[step].Step+1, st.Steps[step].Weights
			list = append(list, now)
		}
		if !ph.Done {
			break
		}
		if ph.Kind == PhaseHarness {
			now.Harness, now.source = ph.Harness, ph.Source
		}
		for _, c := range st.Curve {
			if c.Phase == ph.Index && c.At != ph.Name() {
				list = append(list, Moment{c.At, c.Steps, c.Weights, c.Harness, c.Source})
			}
		}
		now.Name = ph.Name()
		list = append(list, now)
		if last := i == len(st.Phases)-1; !last && st.begins(i+1) || last && st.finished() {
			now.Name = cycleName(ph.Cycle)
			list = append(list, now)
		}
	}
	now.Name = MomentLatest
	if st.finished() {
		now.Name = MomentFinal
	}
	return append(list, now)
}

// finished says whether the run has its final table.
func (st *Story) finished() bool { return len(st.Final) > 0 }

func cycleName(n int) string { return fmt.Sprintf("cycle%d", n) }

// Moment finds a moment by its name; "" and [MomentLatest] are the last. Where there is none, the error lists those that there are.
func (st *Story) Moment(name string) (Moment, error) {
	list := st.Moments()
	switch {
	case name == "", name == MomentLatest:
		return list[len(list)-1], nil
	case name == MomentFinal && !st.finished():
		return Moment{}, &InputError{fmt.Errorf("%s: the run is not finished, and has no moment %q yet; what it has come to is its moment %q", st.Dir, name, MomentLatest)}
	}
	var names []string
	steps := 0
	for _, m := range list {
		if m.Name == name {
			return m, nil
		}
		if strings.HasPrefix(m.Name, "step-") {
			steps++
			continue
		}
		names = append(names, m.Name)
	}
	if steps > 0 {
		names = append(names, fmt.Sprintf("%s to %s", snapshotID(st.Steps[0].Step), snapshotID(st.Steps[len(st.Steps)-1].Step)))
	}
	return Moment{}, &InputError{fmt.Errorf("%s: got no moment %q; there are %s", st.Dir, name, strings.Join(names, ", "))}
}

// Model opens the weights of a moment: the snapshot that the run keeps of them, whole and with the identity that the journal has, or the model that the
// run began with.
func (st *Story) Model(m Moment) (*local.Bundle, error) {
	path, err := st.ModelPath(m)
	if err != nil {
		return nil, err
	}
	b, err := local.OpenWith(path, st.Config.Policy.openOptions())
	if err != nil {
		return nil, &InputError{fmt.Errorf("%s: weights of %s: %w", st.Dir, m.Name, err)}
	}
	if got := b.Weights().ID; got != m.Weights {
		return nil, &InputError{fmt.Errorf("%s: weights of %s: %s holds %s, and the journal has %s", st.Dir, m.Name, path, got.Short(), m.Weights.Short())}
	}
	return b, nil
}

// ModelPath gives the folder, file or name of a moment's weights. A snapshot is compared with its hashes first.
func (st *Story) ModelPath(m Moment) (string, error) {
	if m.Steps == 0 {
		if err := st.Config.Policy.runnable(); err != nil {
			return "", err
		}
		return st.Config.Policy.Model, nil
	}
	s, err := store.OpenReadOnly(st.Dir)
	if err != nil {
		return "", err
	}
	defer s.Close()
	id := snapshotID(m.Steps - 1)
	dir, whole := s.Weights(id)
	if !whole {
		return "", st.noSnapshot(s, m)
	}
	if err := s.VerifyWeights(id); err != nil {
		return "", err
	}
	return dir, nil
}

// ChatOptions are how the run's conversations are rendered.
func (st *Story) ChatOptions() chat.Options { return st.Config.Policy.openOptions().Chat }

// noSnapshot says why the run has no snapshot of a moment's weights, and of which moments it has one.
func (st *Story) noSnapshot(s *store.Run, wanted Moment) error {
	whole, err := s.ListWeights()
	if err != nil {
		return err
	}
	kept := []string{MomentStart}
	for _, m := range st.Moments() {
		if m.Steps > 0 && slices.Contains(whole, snapshotID(m.Steps-1)) {
			kept = append(kept, m.Name)
		}
	}
	id := snapshotID(wanted.Steps - 1)
	dir := filepath.Join(st.Dir, "weights", id)
	var why string
	switch _, err := os.Lstat(dir); {
	case err == nil:
		why = fmt.Sprintf("are not whole in %s (%v)", dir, s.VerifyWeights(id))
	case st.keeps(wanted.Steps):
		why = fmt.Sprintf("belong in %s, and this folder is missing", dir)
	default:
		return &InputError{fmt.Errorf("%s: the weights of %s are not kept (phase ends, the best and the last steps are); those of %s are", st.Dir, wanted.Name, few(kept))}
	}
	return &InputError{fmt.Errorf("%s: the weights of %s %s; whole are those of %s; whale resume %s trains what is missing again, from the recorded rollouts", st.Dir, wanted.Name, why, few(kept), st.Dir)}
}

// keeps says whether a run keeps the weights after some steps whatever comes: phase ends and the last steps.
func (st *Story) keeps(steps int) bool {
	if steps > len(st.Steps)-max(1, st.Config.Snapshots.Last) {
		return true
	}
	return slices.ContainsFunc(st.Phases, func(ph PhaseStory) bool { return ph.Done && ph.Kind == PhaseWeight && ph.To == steps })
}

// Program gives the harness of a moment: the run's own copy, or where that is missing or not what its name says, the journal's.
func (st *Story) Program(m Moment) (Program, error) {
	for _, language := range harness.Languages() {
		name := string(m.Harness) + harness.Extension(language)
		if prog, err := st.keptProgram(name); err == nil {
			return prog, nil
		}
		if whale.HarnessIDIn(language, []byte(m.source)) == m.Harness {
			return Program{name, []byte(m.source)}, nil
		}
	}
	return Program{}, &InputError{fmt.Errorf("%s: the harness of %s, harness/%s, is missing or was changed, and the journal has no copy", st.Dir, m.Name, m.Harness)}
}

// minPrefix is the shortest beginning of an id that is looked for.
const minPrefix = 4

// ProgramByID gives any harness that the run evaluated, by its id or a beginning of it of four characters or more.
func (st *Story) ProgramByID(prefix string) (Program, error) {
	entries, err := os.ReadDir(filepath.Join(st.Dir, "harness"))
	if err != nil {
		return Program{}, &InputError{err}
	}
	var found, names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if strings.HasPrefix(e.Name(), prefix) && len(prefix) >= minPrefix {
			found = append(found, e.Name())
		}
	}
	if len(found) != 1 {
		return Program{}, &InputError{fmt.Errorf("%s: got %d harnesses whose id begins with %q, want one, by %d characters of it or more; there are %s", st.Dir, len(found), prefix, minPrefix, few(names))}
	}
	prog, err := st.keptProgram(found[0])
	if err != nil {
		return prog, &InputError{err}
	}
	return prog, nil
}

// keptProgram reads a file of the run's harness folder. Its name must be the id of what is in it.
func (st *Story) keptProgram(name string) (Program, error) {
	path := filepath.Join(st.Dir, "harness", name)
	src, err := harness.Read(path)
	if err != nil {
		return Program{}, err
	}
	for _, language := range harness.Languages() {
		if id, ok := strings.CutSuffix(name, harness.Extension(language)); ok && whale.HarnessIDIn(language, src) == whale.ID(id) {
			return Program{name, src}, nil
		}
	}
	return Program{}, fmt.Errorf("%s: it is not the program that its name says; the file was changed", path)
}

// few lists names, and of many the first.
func few(names []string) string {
	const most = 12
	if len(names) == 0 {
		return "none"
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
