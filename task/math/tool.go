package math

import (
	whale "github.com/seed-095d5d2b/whale"
)

// ToolEnv is an episode's world of one tool of this domain alone, for tasks of other people: kind is ToolCalculator or ToolPython, and its
// output is cut at outputBytes.
func ToolEnv(kind string, tool Calculator, outputBytes int) whale.Env {
	return &env{spec: toolSpec(kind), calculator: tool, outputBytes: outputBytes}
}
