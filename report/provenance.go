package report

import (
	"fmt"
	"slices"
	"strings"
)

// made names a build or kernels in a table: "-" where the run did not record them.
func made(by string) string {
	if by == "" {
		return "-"
	}
	return plain(by, 12)
}

// noteProvenance says where runs that are compared were made by different binaries or with different kernels.
func (g *Group) noteProvenance() {
	for _, of := range []struct {
		what, may string
		value     func(*Run) string
	}{
		{"builds of whale", "what changed between them may be in the differences", func(r *Run) string { return r.Build }},
		{"kernels", "they round differently, so that equal seeds may sample other tokens", func(r *Run) string { return r.Kernels }},
	} {
		var values []string
		for i := range g.Runs {
			if v := of.value(&g.Runs[i]); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) < 2 {
			continue
		}
		parts := make([]string, len(values))
		for i, v := range values {
			parts[i] = plain(v, 40)
			if v == "" {
				parts[i] = "not recorded"
			}
			parts[i] += " (" + g.with(v, of.value) + ")"
		}
		g.Notes = append(g.Notes, fmt.Sprintf("The runs were made with different %s: %s; %s.", of.what, strings.Join(parts, ", "), of.may))
	}
}

// with names the runs that have a value: an arm whole where all of its runs have it, else by seeds.
func (g *Group) with(v string, value func(*Run) string) string {
	var parts []string
	for i := range g.Arms {
		a := &g.Arms[i]
		var seeds []string
		for _, r := range g.runsOf(a) {
			if value(r) == v {
				seeds = append(seeds, seedNumber(r.Seed))
			}
		}
		switch {
		case len(seeds) == 0:
		case len(seeds) == len(a.runs):
			parts = append(parts, a.Label)
		default:
			parts = append(parts, a.Label+" seed "+strings.Join(seeds, " and "))
		}
	}
	return strings.Join(parts, ", ")
}
