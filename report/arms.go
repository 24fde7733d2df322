package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/recipe"
)

// labelArms gives each run the label of its arm, and returns the arms in the order of the paper's methods.
func labelArms(runs []Run) ([]Arm, error) {
	byMethod := map[string][]int{}
	for i, r := range runs {
		byMethod[r.Method] = append(byMethod[r.Method], i)
	}
	var arms []Arm
	for _, method := range methodOrder(slices.Collect(maps.Keys(byMethod))) {
		kinds := map[string][]int{} // content of the arm → runs
		var order []string
		keys := differing(runs, byMethod[method])
		for _, i := range byMethod[method] {
			k := armName(runs[i], keys)
			if kinds[k] == nil {
				order = append(order, k)
			}
			kinds[k] = append(kinds[k], i)
		}
		for _, k := range order {
			label := method
			if len(order) > 1 {
				label = fmt.Sprintf("%s [%s]", method, k)
				if len(label) > maxLabel { // the table of config differences says what it stands for
					label = fmt.Sprintf("%s [config %d]", method, 1+slices.Index(order, k))
				}
			}
			a := Arm{Label: label, Method: method, runs: kinds[k]}
			seen := map[uint64]int{}
			for _, i := range a.runs {
				if j, twice := seen[runs[i].Seed]; twice {
					return nil, fmt.Errorf("report: %s and %s are both %s with seed %d: one of them counts; leave the other out", runs[j].Dir, runs[i].Dir, label, runs[i].Seed)
				}
				seen[runs[i].Seed] = i
			}
			slices.SortFunc(a.runs, func(i, j int) int { return compareSeeds(runs[i].Seed, runs[j].Seed) })
			for _, i := range a.runs {
				runs[i].Arm = label
				if runs[i].Finished {
					a.Seeds = append(a.Seeds, runs[i].Seed)
				} else {
					a.Open = append(a.Open, runs[i].Seed)
				}
			}
			arms = append(arms, a)
		}
	}
	return arms, nil
}

// maxLabel is the longest label that tables and legends show whole, in bytes.
const maxLabel = 48

func compareSeeds(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// methodOrder sorts methods as the recipe lists them, others behind them by name.
func methodOrder(methods []string) []string {
	known := recipe.Methods()
	rank := func(m string) int {
		if i := slices.Index(known, m); i >= 0 {
			return i
		}
		return len(known)
	}
	slices.SortFunc(methods, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return methods
}

// Names of what an arm began with, beside config keys.
const (
	keyWeights = "θ0"
	keyHarness = "h0"
)

// settings are the config keys that make an arm, with what the run began with by content.
func settings(r Run) map[string]string {
	m := maps.Clone(r.config)
	if m == nil {
		m = map[string]string{}
	}
	m[keyWeights], m[keyHarness] = r.FirstWeights.Short(), r.FirstHarness.Short()
	return m
}

// differing lists the settings in which some runs differ, sorted.
func differing(runs []Run, of []int) []string {
	first := settings(runs[of[0]])
	set := map[string]bool{}
	for _, i := range of[1:] {
		other := settings(runs[i])
		for k := range first {
			if v, ok := other[k]; !ok || v != first[k] {
				set[k] = true
			}
		}
		for k := range other {
			if _, ok := first[k]; !ok {
				set[k] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// armName says what sets an arm apart from others of its method.
func armName(r Run, keys []string) string {
	s := settings(r)
	parts := make([]string, len(keys))
	for i, k := range keys {
		v, ok := s[k]
		if !ok {
			v = "none"
		}
		parts[i] = k + "=" + v
	}
	return strings.Join(parts, ", ")
}

// differsFrom lists the settings of a run that are others than those of the group's first run.
func differsFrom(first, r Run) []string {
	a, b := settings(first), settings(r)
	a["schedule.method"], b["schedule.method"] = first.Method, r.Method
	a["seed"], b["seed"] = fmt.Sprint(first.Seed), fmt.Sprint(r.Seed)
	var out []string
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if a[k] != b[k] {
			out = append(out, fmt.Sprintf("%s: %s → %s", k, orNone(a[k]), orNone(b[k])))
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
