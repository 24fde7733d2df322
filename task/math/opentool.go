package math

import (
	"errors"

	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/sandbox/python"
)

// OpenTool gives the tool that a valid config names. The pool is that of [Sandboxed], for tool calculator alone; concurrency bounds the calls at a time of the
// others. The caller calls closing when the task is no longer used.
func OpenTool(c Config, pool *sandbox.Pool, concurrency int) (tool Calculator, closing func(), err error) {
	nothing := func() {}
	switch c.Tool {
	case ToolPython:
		r, err := python.New(c.Python, concurrency)
		if err != nil {
			return nil, nil, err
		}
		return r, nothing, nil
	case ToolFusion:
		f, err := python.NewFusion(c.Fusion, concurrency)
		if err != nil {
			return nil, nil, err
		}
		return f, f.Close, nil
	}
	if pool == nil {
		return nil, nil, errors.New("math: got no pool for the calculator")
	}
	tool, err = Sandboxed(pool, c.Calculator)
	return tool, nothing, err
}
