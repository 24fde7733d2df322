package star

import (
	"slices"

	"go.starlark.net/starlark"
)

// newTask makes the value of run's parameter task: the fields that the task lets an agent see, all strings.
func newTask(view map[string]string) *record {
	names := make([]string, 0, len(view))
	for name := range view {
		names = append(names, name)
	}
	slices.Sort(names)
	pairs := make([]any, 0, 2*len(names))
	for _, name := range names {
		pairs = append(pairs, name, starlark.String(view[name]))
	}
	return newRecord("task", pairs...)
}
