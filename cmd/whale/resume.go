package main

import (
	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/recipe"
)

func (a *app) resumeCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "resume DIR [CONFIG]",
		Short: "Go on with a run that was stopped or killed, to the numbers it would have reached",
		Long:  "Go on with the run in DIR. With CONFIG, the keys in which it differs from the run's own config are named and nothing is done.",
		Args:  args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, list []string) error {
			var given *recipe.Config
			if len(list) > 1 {
				c, err := recipe.LoadConfig(list[1])
				if err != nil {
					return err
				}
				given = &c
			}
			view := a.newView()
			r, err := recipe.Resume(cmd.Context(), list[0], given, a.options(view))
			if err != nil {
				return err
			}
			return a.execute(cmd.Context(), r, view)
		},
	}
}
