package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) explainCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "explain RUN",
		Short: "Say why each phase of a run ended, with the numbers behind it, and what was tried",
		Args:  args(cobra.ExactArgs(1)),
		RunE:  func(cmd *cobra.Command, list []string) error { return a.explain(cmd.Context(), list[0]) },
	}
}

func (a *app) explain(ctx context.Context, dir string) error {
	if err := noComparison(dir); err != nil {
		return err
	}
	story, err := recipe.ReadStory(ctx, dir)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Dir    string              `json:"dir"`
			Method string              `json:"method"`
			Seed   uint64              `json:"seed"`
			Phases []recipe.PhaseStory `json:"phases"`
			Halves []recipe.Halves     `json:"halves,omitempty"`
			Tried  recipe.Tried        `json:"tried"`
		}{story.Dir, story.Method(), story.Config.Seed, story.Phases, story.Halves, story.Tried})
	}
	state := "finished"
	if story.Final == nil {
		state = "not finished"
	}
	fmt.Fprintf(a.stdout, "%s: method %s, seed %d, %s\n\n", dir, story.Method(), story.Config.Seed, state)
	for _, text := range story.Explain() {
		fmt.Fprintln(a.stdout, printable(text))
	}
	fmt.Fprintf(a.stdout, "\ntried: %s\n", oneLine(story.Tried.String()))
	return nil
}
