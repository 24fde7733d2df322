package searchqa

import (
	whale "github.com/seed-095d5d2b/whale"
)

// ToolEnv is an episode's world of the search tool alone, for tasks of other people. The retriever stays the caller's to close.
func ToolEnv(r Retriever, o SearchOptions) whale.Env {
	return &env{retriever: r, options: o}
}
