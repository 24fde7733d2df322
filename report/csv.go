package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// table is one CSV file. The first row is the head.
type table struct {
	name string
	rows [][]string
}

// CSVNames lists the files that [Report.WriteCSV] knows, without ".csv".
func CSVNames() []string {
	var out []string
	for _, t := range (&Report{}).tables() {
		out = append(out, t.name)
	}
	return out
}

// WriteCSV writes the table of a name of [CSVNames]. Numbers are written in full; accuracies are shares, 0 to 1; the first column is the task's id.
func (r *Report) WriteCSV(w io.Writer, name string) error {
	for _, t := range r.tables() {
		if t.name == name {
			return t.write(w)
		}
	}
	return fmt.Errorf("report: csv: got the table %q, want one of %v", name, CSVNames())
}

func (t table) write(w io.Writer) error { return csv.NewWriter(w).WriteAll(t.rows) }

func num(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return num(*v)
}

func seedNumber(s uint64) string { return strconv.FormatUint(s, 10) }

// tables are all CSV files. They exist, with their head, also where there is nothing to say.
func (r *Report) tables() []table {
	accuracy := table{"accuracy", [][]string{{"task", "arm", "pair", "draws", "examples", "seeds", "mean", "low", "high"}}}
	seeds := table{"seeds", [][]string{{"task", "arm", "pair", "seed", "mean"}}}
	differences := table{"differences", [][]string{{"task", "pair", "first", "second", "seeds", "examples", "mean", "low", "high", "p"}}}
	passing := table{"passing", [][]string{{"task", "arm", "of", "level", "total_rollouts", "rollouts", "share", "seeds", "seeds_reached"}}}
	ledger := table{"ledger", [][]string{{"task", "arm", "seed", "purpose", "counter", "amount"}}}
	metrics := table{"metrics", [][]string{{"task", "arm", "seed", "pair", "metric", "value"}}}
	runs := table{"runs", [][]string{{"task", "arm", "seed", "name", "finished", "state", "steps", "empty_steps", "sessions", "failed_sessions", "proposed", "evaluated", "rejected", "stopped", "incomplete", "accepted_phases", "harness_phases", "first_weights", "first_harness", "last_harness", "folder"}}}
	curve := table{"curve", [][]string{{"task", "arm", "seed", "at", "phase", "steps", "sessions", "rollouts", "accuracy", "low", "high", "validation"}}}
	steps := table{"steps", [][]string{{"task", "arm", "seed", "step", "phase", "rollouts", "accepted", "failed", "reward", "updates", "loss"}}}
	search := table{"search", [][]string{{"task", "arm", "seed", "phase", "session", "candidate", "id", "status", "gate", "reason", "score", "best"}}}
	phases := table{"phases", [][]string{{"task", "arm", "seed", "phase", "cycle", "kind", "done", "made", "incoming", "why"}}}
	halves := table{"halves", [][]string{{"task", "arm", "seed", "cycle", "old_old", "new_weights", "new_harness", "new_new"}}}
	matrix := table{"matrix", [][]string{{"task", "arm", "seed", "split", "draws", "harness", "weights", "mean"}}}
	for i := range r.Groups {
		g := &r.Groups[i]
		task := cell(string(g.ID))
		for _, row := range g.Table {
			accuracy.add(task, cell(row.Arm), row.Kind, strconv.Itoa(row.Draws), strconv.Itoa(row.Examples), strconv.Itoa(len(row.Seeds)), num(row.Mean), num(row.Low), num(row.High))
			for _, s := range row.Seeds {
				seeds.add(task, cell(row.Arm), row.Kind, seedNumber(s.Seed), num(s.Value))
			}
		}
		for _, d := range g.Differences {
			differences.add(task, d.Kind, cell(d.First), cell(d.Second), strconv.Itoa(len(d.Seeds)), strconv.Itoa(d.Examples), num(d.Mean), num(d.Low), num(d.High), num(d.P))
		}
		for _, p := range g.Passing {
			passing.add(task, cell(p.Arm), cell(p.Of), num(p.Level), num(p.Total), optional(p.Rollouts), optional(p.Share), strconv.Itoa(p.Seeds), strconv.Itoa(p.Reached))
		}
		for k := range g.Runs {
			run := &g.Runs[k]
			key := []string{task, cell(run.Arm), seedNumber(run.Seed)}
			with := func(more ...string) []string { return slices.Concat(key, more) }
			t := run.Tried
			rejected := 0
			for _, n := range t.Rejected {
				rejected += n
			}
			row := with(cell(run.Name), strconv.FormatBool(run.Finished), cell(run.Unfinished))
			for _, n := range []int{t.Steps, t.EmptySteps, t.Sessions, t.FailedSessions, t.Proposed, t.Evaluated, rejected, t.Stopped, t.Incomplete, t.Accepted, t.Phases} {
				row = append(row, strconv.Itoa(n))
			}
			runs.add(append(row, cell(string(run.FirstWeights)), cell(string(run.FirstHarness)), cell(string(run.LastHarness)), cell(run.Dir))...)
			for _, purpose := range slices.Sorted(maps.Keys(run.Ledger)) {
				for _, c := range slices.Sorted(maps.Keys(run.Ledger[purpose])) {
					ledger.add(with(cell(purpose), cell(c), num(run.Ledger[purpose][c]))...)
				}
			}
			for _, p := range run.Pairs {
				for _, m := range slices.Sorted(maps.Keys(p.Metrics)) {
					metrics.add(with(cell(p.Kind), cell(m), num(p.Metrics[m]))...)
				}
			}
			for _, p := range run.Curve {
				curve.add(with(cell(p.At), strconv.Itoa(p.Phase), strconv.Itoa(p.Steps), strconv.Itoa(p.Sessions), strconv.Itoa(p.Rollouts), num(p.Accuracy), num(p.Low), num(p.High), optional(p.Validation))...)
			}
			for _, s := range run.Steps {
				steps.add(with(strconv.Itoa(s.Step), strconv.Itoa(s.Phase), strconv.Itoa(s.Rollouts), strconv.Itoa(s.Accepted), strconv.Itoa(s.Failed), num(s.Reward), strconv.Itoa(s.Updates), num(s.Loss))...)
			}
			for _, ph := range run.Phases {
				phases.add(with(cell(ph.Name), strconv.Itoa(ph.Cycle), cell(ph.Kind), strconv.FormatBool(ph.Done), strconv.Itoa(ph.Made), optional(ph.Incoming), cell(ph.Why))...)
				for _, s := range ph.Sessions {
					for _, c := range s.Candidates {
						search.add(with(cell(ph.Name), strconv.Itoa(s.Session), cell(c.Name), cell(string(c.ID)), cell(c.Status), cell(c.Gate), cell(c.Reason), optional(c.Score), optional(s.Best))...)
					}
				}
			}
			for _, h := range run.Halves {
				halves.add(with(strconv.Itoa(h.Cycle), num(h.Old), num(h.Weight), num(h.Harness), num(h.New))...)
			}
			for _, m := range run.Matrix {
				for a, row := range m.Cells {
					for b, v := range row {
						if a < len(m.Harness) && b < len(m.Weights) {
							matrix.add(with(cell(m.Split), strconv.Itoa(m.Draws), cell(m.Harness[a]), cell(m.Weights[b]), num(v))...)
						}
					}
				}
			}
		}
	}
	return []table{accuracy, seeds, differences, passing, ledger, metrics, runs, curve, steps, search, phases, halves, matrix}
}

func (t *table) add(row ...string) { t.rows = append(t.rows, row) }
