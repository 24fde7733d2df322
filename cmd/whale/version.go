package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/local"
)

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, contract version, kernels and embedded models",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string   `json:"version"`
				Revision string   `json:"revision,omitempty"`
				Go       string   `json:"go"`
				Platform string   `json:"platform"`
				Contract int      `json:"contract"`
				Kernels  string   `json:"kernels"`
				Models   []string `json:"models"`
			}{"(devel)", "", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, whale.ContractVersion, kernel.Variant(), local.EmbeddedModels()}
			if info, ok := debug.ReadBuildInfo(); ok {
				v.Version = info.Main.Version
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						v.Revision = s.Value
					}
				}
			}
			if a.json {
				return a.printJSON(v)
			}
			name := strings.TrimSpace("whale " + v.Version + " " + v.Revision)
			fmt.Fprintf(a.stdout, "%s\n%s %s, harness contract %d, kernels %s, embedded models %s\n", name, v.Go, v.Platform, v.Contract, v.Kernels, strings.Join(v.Models, ", "))
			return nil
		},
	}
}
