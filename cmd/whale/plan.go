package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) planCmd() *cobra.Command {
	var o overrides
	var model string
	c := &cobra.Command{
		Use:   "plan CONFIG",
		Short: "Print a config's phases, rollouts, tokens and disk space, before they are spent",
		Long: "Prints a config's phases, rollouts, tokens and disk space, before they are spent. Where the data is not on this machine, the sizes are those of\n" +
			"task.counts; where the model is not, memory and disk are left open. Both are said.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return a.plan(cmd.Context(), list[0], model, o) },
	}
	registerModel(c, &model)
	o.register(c)
	o.registerMethod(c)
	return c
}

func (a *app) plan(ctx context.Context, path, model string, o overrides) error {
	config, err := recipe.LoadConfig(path)
	if err != nil {
		return err
	}
	if err := o.apply(&config); err != nil {
		return err
	}
	if err := useModel(&config, model); err != nil {
		return err
	}
	prog, err := recipe.LoadProgram(config.Harness)
	if err != nil {
		return inConfig(path, err)
	}
	look, err := recipe.Survey(ctx, config, prog, a.resources())
	if err != nil {
		return inConfig(path, err)
	}
	if !look.Confined {
		fmt.Fprintln(a.stderr, "note: "+look.Isolation)
	}
	for _, n := range look.Notes {
		fmt.Fprintln(a.stderr, "note: "+oneLine(n))
	}
	p, err := recipe.MakePlan(config, look.Counts)
	if err != nil {
		return inConfig(path, err)
	}
	if n := look.Counts; a.json {
		return a.printJSON(struct {
			recipe.Plan
			Counts    map[string]int    `json:"counts"`
			Countings []recipe.Counting `json:"countings"`
			Unread    string            `json:"unread,omitempty"`     // why the counts are task.counts and not the data's
			ModelAway string            `json:"model_away,omitempty"` // why the model is not here
		}{p, map[string]int{"train": n.Train, "search": n.Search, "validation": n.Validation, "test": n.Test}, p.Countings(), look.Unread, look.ModelAway})
	}
	return a.printPlan(p, config, look)
}

func (a *app) printPlan(p recipe.Plan, c recipe.Config, look *recipe.Outlook) error {
	n := look.Counts
	fmt.Fprintf(a.stdout, "%s: method %s, %s, seed %d\n", c.Name, c.Schedule.Method, scheduleOf(c.Schedule), c.Seed)
	fmt.Fprintf(a.stdout, "examples: %d train, %d search, %d validation, %d test%s; an epoch is %.4g steps of %d examples × %d rollouts\n\n",
		n.Train, n.Search, n.Validation, n.Test, either(look.Unread == "", "", " (declared by task.counts, not read)"), p.StepsAnEpoch, c.Weight.Batch, c.Weight.Group)
	if look.Unread != "" {
		fmt.Fprintf(a.stdout, "data not here: %s\n", oneLine(look.Unread))
	}
	if look.ModelAway != "" {
		fmt.Fprintf(a.stdout, "model not here: %s\n", oneLine(look.ModelAway))
	}
	if look.Unread != "" || look.ModelAway != "" {
		fmt.Fprintln(a.stdout)
	}
	if err := a.printPhases(p); err != nil {
		return err
	}
	for _, text := range p.Warnings(c) {
		fmt.Fprintf(a.stdout, "\nwarning: %s\n", text)
	}
	if err := a.printMethods(c, n); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\ncycles              %s\n", cyclesOf(p))
	fmt.Fprintf(a.stdout, "weight rollouts     %d in %d steps\n", p.WeightRollouts, p.Steps)
	fmt.Fprintf(a.stdout, "search rollouts     %d at most, in %s of %s, incoming harnesses and runners-up included; %d canary episodes and %d fresh ones before a choice apart\n", p.SearchRollouts, english.Plural(p.Sessions, "session", ""), english.Plural(c.Search.Candidates, "candidate", ""), p.CanaryRollouts, p.ConfirmRollouts)
	for _, k := range p.Countings() {
		fmt.Fprintf(a.stdout, "a harness phase     %d rollouts as %d sessions × %d candidates × %d examples, the incoming harness apart (the paper's count)\n", k.Paper, k.Sessions, k.Candidates, k.Examples)
		if k.Sessions > 1 {
			fmt.Fprintf(a.stdout, "                    %d rollouts if the incoming harness, %d examples, is the first iteration and %d sessions follow (its launcher's count)\n", k.Launcher, k.Examples, k.Sessions-1)
		}
	}
	fmt.Fprintf(a.stdout, "evaluation          at most %d rollouts for the curve, %d for the 2x2 of the cycles, %d for mean@%d of the final pairs; outside the training budget\n", p.CurveRollouts, p.HalvesRollouts, p.FinalRollouts, c.Evaluation.Draws)
	fmt.Fprintf(a.stdout, "sampled tokens      %d at most (%d a rollout)\n", p.MaxTokens, c.Limits.Tokens)
	if look.Memory == nil {
		fmt.Fprintf(a.stdout, "disk                model not here: about %d MB, and the snapshots of its weights\n", p.Space(c, 0)>>20)
		fmt.Fprintln(a.stdout, "memory              model not here: unknown")
		return nil
	}
	fmt.Fprintf(a.stdout, "disk                about %d MB\n", p.Space(c, look.Memory.Trained)>>20)
	fmt.Fprintf(a.stdout, "memory              %s at most, before garbage\n", megabytes(look.Memory.Run()))
	return nil
}

// scheduleOf says (E, I) and the total, or the list of cycles.
func scheduleOf(s recipe.Schedule) string {
	if len(s.Cycles) == 0 {
		return fmt.Sprintf("(E, I) = (%g, %d), %g epochs in all", s.Epochs, s.Sessions, s.TotalEpochs)
	}
	text, total := "(E, I) =", 0.0
	for _, c := range s.Cycles {
		text += fmt.Sprintf(" (%g, %d)", c.Epochs, c.Sessions)
		total += c.Epochs
	}
	return fmt.Sprintf("%s, %g epochs in all", text, total)
}

func cyclesOf(p recipe.Plan) string {
	if p.Adaptive == nil {
		return fmt.Sprint(p.Cycles)
	}
	return fmt.Sprintf("as many as the rule makes (the fixed schedule has %d)", p.Cycles)
}

// printPhases prints the phases, or the rule that ends them.
func (a *app) printPhases(p recipe.Plan) error {
	if r := p.Adaptive; r != nil {
		fmt.Fprintf(a.stdout, "weight phases end by rule: window %d steps, at least %d, patience %d, at most %d\n", r.Window, r.Minimum, r.Patience, r.Maximum)
		fmt.Fprintf(a.stdout, "harness phases end by rule: at least %d sessions, patience %d, at most %d\nthe run ends with the harness phase after the last step, and may leave sessions unspent; where too few are left for another before it, one weight phase takes the steps that are left\n", r.MinimumSessions, r.PatienceSessions, r.MaximumSessions)
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "cycle\tphase\tsteps\tsessions\trollouts at most\tcurve points inside")
	for _, ph := range p.Phases {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%s\n", ph.Cycle, ph.Kind, orDash(ph.Steps), orDash(ph.Sessions), ph.Rollouts, orDash(len(ph.Marks)))
	}
	return w.Flush()
}

// printMethods prints what every method of the config may spend: the halves that a method has get the same.
func (a *app) printMethods(c recipe.Config, n recipe.Counts) error {
	fmt.Fprintln(a.stdout, "\nevery method of this config, at most:")
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "method\tphases\tsteps\tweight rollouts\tsessions\tsearch rollouts\tof them incoming and runners-up\tcanaries\tfresh before a choice\tall")
	for _, m := range recipe.Methods() {
		c.Schedule.Method = m
		p, err := recipe.MakePlan(c, n)
		if err != nil {
			return err
		}
		phases := orDash(len(p.Phases))
		if p.Adaptive != nil {
			phases = "by rule"
		}
		candidates := p.Sessions * c.Search.Candidates * n.Search
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\n", m, phases, orDash(p.Steps), p.WeightRollouts, orDash(p.Sessions), p.SearchRollouts, p.SearchRollouts-candidates, p.CanaryRollouts, p.ConfirmRollouts, p.WeightRollouts+p.SearchRollouts+p.CanaryRollouts+p.ConfirmRollouts)
	}
	return w.Flush()
}

func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
