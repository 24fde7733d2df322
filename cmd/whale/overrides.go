package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/recipe"
)

// overrides are flags that stand in for config keys, for quick trials of one config.
type overrides struct {
	seed, generatorSeed optionalSeed
	method              string
}

func (o *overrides) register(c *cobra.Command) {
	c.Flags().Var(&o.seed, "seed", "run seed, instead of the config's")
	c.Flags().Var(&o.generatorSeed, "generator-seed", "seed of the problem generator, instead of the config's")
}

// registerMethod adds the flag that commands have which make phases.
func (o *overrides) registerMethod(c *cobra.Command) {
	c.Flags().StringVar(&o.method, "method", "", "method, instead of the config's: "+strings.Join(recipe.Methods(), ", "))
}

// apply puts what was given into the config. A flag that the config has no use for is a mistake, not a wish to ignore.
func (o overrides) apply(c *recipe.Config) error {
	if o.seed.given {
		c.Seed = o.seed.value
	}
	if o.method != "" {
		if !slices.Contains(recipe.Methods(), o.method) {
			return &usageError{fmt.Sprintf("--method: got %q, want one of %s", o.method, strings.Join(recipe.Methods(), ", "))}
		}
		c.Schedule.Method = o.method
	}
	if o.generatorSeed.given {
		if err := c.Task.SetGeneratorSeed(o.generatorSeed.value); err != nil {
			return &usageError{"--generator-seed: " + err.Error() + "; leave the flag out"}
		}
	}
	return nil
}

// optionalSeed is a flag that is not given, or is a seed. 0 is a seed like any other.
type optionalSeed struct {
	given bool
	value uint64
}

func (s *optionalSeed) String() string {
	if !s.given {
		return ""
	}
	return strconv.FormatUint(s.value, 10)
}

func (s *optionalSeed) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("got %q, want a whole number from 0 to 2^64-1", text)
	}
	s.given, s.value = true, v
	return nil
}

// Type names the kind of value in the help.
func (s *optionalSeed) Type() string { return "seed" }
