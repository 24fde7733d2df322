package main

import (
	"fmt"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-095d5d2b/whale/recipe"
)

// printSummary prints the final table: the four pairs, what was spent, the winning harness and its diff.
func (a *app) printSummary(s *recipe.Summary) error {
	if a.json {
		return a.printJSON(struct {
			Kind string `json:"kind"`
			*recipe.Summary
		}{"summary", s})
	}
	first := s.Pairs[0]
	fmt.Fprintf(a.stdout, "\n%s split, mean@%d over %s, 95%% intervals\n\n", titled(string(s.Split)), first.Draws, english.Plural(first.Examples, "example", ""))
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "pair\tmean\tinterval\tweights\tharness\tchosen at")
	for _, p := range s.Pairs {
		fmt.Fprintf(w, "%s\t%5.1f%%\t[%.1f, %.1f]\t%s\t%s\t%s\n", p.Name, 100*p.Mean, 100*p.Low, 100*p.High, p.Weights.Short(), p.Harness.Short(), p.At)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if s.Chance != nil {
		fmt.Fprintf(a.stdout, "\nanswering at random solves %.1f%%\n", 100**s.Chance)
	}
	fmt.Fprintf(a.stdout, "\nTried: %s\n", s.Tried)
	fmt.Fprintln(a.stdout, "\nSpent")
	fmt.Fprintln(a.stdout)
	if err := a.printLedger(s.Ledger); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nharness  %s\n", s.HarnessFile)
	if s.Weights != "" {
		fmt.Fprintf(a.stdout, "weights  %s\n", s.Weights)
	}
	for _, f := range s.AuditTest {
		fmt.Fprintf(a.stdout, "audit    against the test split: line %d: %s: %s (for your eyes; no proposer is told)\n", f.Line, f.Rule, oneLine(f.Message))
	}
	if s.Diff == "" {
		fmt.Fprintln(a.stdout, "\nThe harness is the one that the run began with.")
	} else {
		fmt.Fprintf(a.stdout, "\n%s\n", strings.TrimRight(printable(s.Diff), "\n"))
	}
	return nil
}

func (a *app) printLedger(ledger map[string]map[string]float64) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "purpose\trollouts\tsessions\tmodel calls\ttool calls\tprompt tokens\tsampled tokens\tretries\tseconds\tUSD\t")
	purposes := make([]string, 0, len(ledger))
	for p := range ledger {
		purposes = append(purposes, p)
	}
	sort.Strings(purposes)
	total := map[string]float64{}
	row := func(name string, m map[string]float64) {
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.1f\t%.2f\t\n", name, m["rollouts"], m["sessions"], m["model_calls"], m["tool_calls"], m["prompt_tokens"], m["sampled_tokens"], m["retries"], m["seconds"], m["usd"])
	}
	for _, p := range purposes {
		row(p, ledger[p])
		for k, v := range ledger[p] {
			total[k] += v
		}
	}
	row("total", total)
	return w.Flush()
}

// titled begins a word with a capital.
func titled(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
