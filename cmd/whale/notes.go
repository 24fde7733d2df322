package main

import (
	"context"
	"fmt"

	"github.com/seed-095d5d2b/whale/recipe"
)

// openParts opens what a config names, and says on stderr what a person should know of its data. Runs say it themselves, as events.
func (a *app) openParts(ctx context.Context, c recipe.Config) (*recipe.Parts, error) {
	parts, err := recipe.OpenParts(ctx, c, a.resources())
	if err != nil {
		return nil, err
	}
	isolation, whole, err := parts.Isolation(ctx)
	if err != nil {
		parts.Close()
		return nil, err
	}
	if !whole {
		fmt.Fprintln(a.stderr, "note: "+isolation)
	}
	for _, n := range parts.Notes() {
		fmt.Fprintln(a.stderr, "note: "+n)
	}
	return parts, nil
}
