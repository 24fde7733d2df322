package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// sheet is one CSV file: its columns beside the task, which is always the first, and its rows.
type sheet struct {
	name    string
	columns []string
	rows    func(g *Group, add func(...string))
}

// sheets are all CSV files.
func sheets() []sheet {
	return []sheet{
		{"accuracy", []string{"arm", "pair", "draws", "examples", "seeds", "mean", "low", "high"}, csvAccuracy},
		{"seeds", []string{"arm", "pair", "seed", "mean"}, csvSeeds},
		{"cells", []string{"arm", "seed", "pair", "example", "mean"}, csvCells}, // example: place in the order of ids, from 0
		{"differences", []string{"pair", "first", "second", "seeds", "examples", "mean", "low", "high", "p"}, csvDifferences},
		{"differences_by_seed", []string{"pair", "first", "second", "seed", "difference"}, csvDifferencesBySeed},
		{"passing", []string{"arm", "of", "level", "total_rollouts", "rollouts", "share", "seeds", "seeds_reached"}, csvPassing},
		{"passing_by_seed", []string{"arm", "of", "seed", "rollouts", "share"}, csvPassingBySeed},
		{"mean_curve", []string{"arm", "rollouts", "accuracy", "low", "high", "band"}, csvMeanCurve},
		{"ledger", []string{"arm", "seed", "purpose", "counter", "amount"}, csvLedger},
		{"metrics", []string{"arm", "seed", "pair", "metric", "value"}, csvMetrics},
		{"runs", []string{
			"arm", "seed", "name", "finished", "state", "steps", "empty_steps", "sessions", "unspent_sessions", "failed_sessions", "proposed", "evaluated", "rejected", "stopped",
			"incomplete", "accepted_phases", "harness_phases", "first_weights", "first_harness", "last_harness", "build", "kernels", "folder",
		}, csvRuns},
		{"curve", []string{"arm", "seed", "at", "phase", "steps", "sessions", "rollouts", "accuracy", "low", "high", "validation"}, csvCurve},
		{"steps", []string{"arm", "seed", "step", "phase", "rollouts", "learned_from", "failed", "reward", "updates", "loss"}, csvSteps},
		{"rejections", []string{"arm", "seed", "gate", "rejected"}, csvRejections},
		{"phases", []string{
			"arm", "seed", "phase", "cycle", "kind", "done", "end", "planned", "made", "incoming", "accepted", "accepted_harness", "harness", "weights", "window_mean", "window_best",
			"window_best_step", "why",
		}, csvPhases},
		{"sessions", []string{"arm", "seed", "phase", "session", "candidates", "evaluated", "best", "prompt_tokens", "sampled_tokens", "usd", "seconds", "error"}, csvSessions},
		{"search", []string{
			"arm", "seed", "phase", "session", "candidate", "id", "status", "gate", "reason", "score", "best", "examples", "passed", "failed", "sampled_tokens", "hypothesis",
		}, csvSearch},
		{"choices", []string{
			"arm", "seed", "phase", "choice", "test", "level", "incumbent", "challenger", "wins", "losses", "difference", "p", "better", "accepted",
		}, csvChoices},
		{"confirmation", []string{
			"arm", "seed", "phase", "draws", "program", "incoming", "episodes", "passed", "mean", "sampled_tokens", "missing", "test", "level", "wins", "losses", "difference", "p",
			"better", "accepted",
		}, csvConfirmation},
		{"halves", []string{
			"arm", "seed", "cycle", "old_old", "old_old_low", "old_old_high", "new_weights", "new_weights_low", "new_weights_high", "new_harness", "new_harness_low", "new_harness_high",
			"new_new", "new_new_low", "new_new_high",
		}, csvHalves},
		{"matrix", []string{"arm", "seed", "split", "draws", "harness", "weights", "mean", "low", "high"}, csvMatrix},
	}
}

// CSVNames lists the files that [Report.WriteCSV] knows, without ".csv".
func CSVNames() []string {
	var out []string
	for _, s := range sheets() {
		out = append(out, s.name)
	}
	return out
}

// WriteCSV writes the table of a name of [CSVNames]; its head is there also where it has no rows. Numbers are written in full; accuracies and
// rewards are shares, 0 to 1; the first column is the task's id.
func (r *Report) WriteCSV(w io.Writer, name string) error {
	for _, s := range sheets() {
		if s.name == name {
			return r.writeSheet(w, s)
		}
	}
	return fmt.Errorf("report: csv: got the table %q, want one of %v", name, CSVNames())
}

func (r *Report) writeSheet(w io.Writer, s sheet) error {
	rows := [][]string{append([]string{"task"}, s.columns...)}
	for i := range r.Groups {
		task := cell(string(r.Groups[i].ID))
		s.rows(&r.Groups[i], func(row ...string) { rows = append(rows, append([]string{task}, row...)) })
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func num(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func whole(n int) string { return strconv.Itoa(n) }

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return num(*v)
}

func seedNumber(s uint64) string { return strconv.FormatUint(s, 10) }

// eachRun calls a function with each run and what adds a row that begins with the run's arm and seed.
func eachRun(g *Group, add func(...string), do func(r *Run, add func(...string))) {
	for i := range g.Runs {
		r := &g.Runs[i]
		key := []string{cell(r.Arm), seedNumber(r.Seed)}
		do(r, func(row ...string) { add(slices.Concat(key, row)...) })
	}
}

func csvAccuracy(g *Group, add func(...string)) {
	for _, r := range g.Table {
		add(cell(r.Arm), cell(r.Kind), whole(r.Draws), whole(r.Examples), whole(len(r.Seeds)), num(r.Mean), num(r.Low), num(r.High))
	}
}

func csvSeeds(g *Group, add func(...string)) {
	for _, r := range g.Table {
		for _, s := range r.Seeds {
			add(cell(r.Arm), cell(r.Kind), seedNumber(s.Seed), num(s.Value))
		}
	}
}

func csvCells(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for _, p := range r.Pairs {
			for x, v := range p.Examples {
				add(cell(p.Kind), whole(x), num(v))
			}
		}
	})
}

func csvDifferences(g *Group, add func(...string)) {
	for _, d := range g.Differences {
		add(cell(d.Kind), cell(d.First), cell(d.Second), whole(len(d.Seeds)), whole(d.Examples), num(d.Mean), num(d.Low), num(d.High), num(d.P))
	}
}

func csvDifferencesBySeed(g *Group, add func(...string)) {
	for _, d := range g.Differences {
		for _, s := range d.Seeds {
			add(cell(d.Kind), cell(d.First), cell(d.Second), seedNumber(s.Seed), num(s.Value))
		}
	}
}

func csvPassing(g *Group, add func(...string)) {
	for _, p := range g.Passing {
		add(cell(p.Arm), cell(p.Of), num(p.Level), num(p.Total), optional(p.Rollouts), optional(p.Share), whole(p.Seeds), whole(p.Reached))
	}
}

func csvPassingBySeed(g *Group, add func(...string)) {
	for _, p := range g.Passing {
		for _, s := range p.BySeed {
			add(cell(p.Arm), cell(p.Of), seedNumber(s.Seed), optional(s.Rollouts), optional(s.Share))
		}
	}
}

func csvMeanCurve(g *Group, add func(...string)) {
	for _, a := range g.Arms {
		for _, m := range a.Curve {
			add(cell(a.Label), num(m.Rollouts), num(m.Accuracy), num(m.Low), num(m.High), a.Band)
		}
	}
}

func csvLedger(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for _, purpose := range slices.Sorted(maps.Keys(r.Ledger)) {
			for _, c := range slices.Sorted(maps.Keys(r.Ledger[purpose])) {
				add(cell(purpose), cell(c), num(r.Ledger[purpose][c]))
			}
		}
	})
}

func csvMetrics(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for _, p := range r.Pairs {
			for _, m := range slices.Sorted(maps.Keys(p.Metrics)) {
				add(cell(p.Kind), cell(m), num(p.Metrics[m]))
			}
		}
	})
}

func csvRuns(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		t := r.Tried
		rejected := 0
		for _, n := range t.Rejected {
			rejected += n
		}
		row := []string{cell(r.Name), strconv.FormatBool(r.Finished), cell(r.Unfinished)}
		for _, n := range []int{t.Steps, t.EmptySteps, t.Sessions, t.Unspent, t.FailedSessions, t.Proposed, t.Evaluated, rejected, t.Stopped, t.Incomplete, t.Accepted, t.Phases} {
			row = append(row, whole(n))
		}
		add(append(row, cell(string(r.FirstWeights)), cell(string(r.FirstHarness)), cell(string(r.LastHarness)), cell(r.Build), cell(r.Kernels), cell(r.Dir))...)
	})
}

func csvCurve(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for _, p := range r.Curve {
			add(cell(p.At), whole(p.Phase), whole(p.Steps), whole(p.Sessions), whole(p.Rollouts), num(p.Accuracy), num(p.Low), num(p.High), optional(p.Validation))
		}
	})
}

func csvSteps(g *Group, add func(...string)) {
	eachRun(g, add, func(r *Run, add func(...string)) {
		for _, s := range r.Steps {
			add(whole(s.Step), whole(s.Phase), whole(s.Rollouts), whole(s.LearnedFrom), whole(s.Failed), num(s.Reward), whole(s.Updates), num(s.Loss))
		}
	})
}
