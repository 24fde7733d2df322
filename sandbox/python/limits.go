package python

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// Limits bound one call. Processor time, memory, source and output decide; wall time guards against code that waits.
type Limits struct {
	Program     string   `json:"program" yaml:"program"`           // absolute path of the interpreter
	Packages    []string `json:"packages" yaml:"packages"`         // absolute paths of folders that modules may be imported from, besides the standard library
	MemoryBytes int64    `json:"memory_bytes" yaml:"memory_bytes"` // writable memory of the process
	CPUSeconds  int      `json:"cpu_seconds" yaml:"cpu_seconds"`   // processor time
	WallSeconds float64  `json:"wall_seconds" yaml:"wall_seconds"` // a guard; a call that reaches it is run once more, alone
	SourceBytes int      `json:"source_bytes" yaml:"source_bytes"` // of the code
	OutputBytes int      `json:"output_bytes" yaml:"output_bytes"` // of standard output that is kept; of standard error some 8 KiB are
}

// DefaultLimits are for a page of mathematics.
func DefaultLimits() Limits {
	return Limits{
		Program: "/usr/bin/python3", MemoryBytes: 512 << 20, CPUSeconds: 10, WallSeconds: 15, SourceBytes: 64 << 10, OutputBytes: 16 << 10,
	}
}

// Bounds of limits.
const (
	maxSeconds = 3600
	maxSource  = 1 << 20
	maxOutput  = 1 << 20
)

// Validate reports limits that allow nothing or cannot be kept, by their keys.
func (l Limits) Validate() error {
	switch {
	case !filepath.IsAbs(l.Program):
		return fmt.Errorf("program: got %q, want the absolute path of a Python interpreter", l.Program)
	case l.MemoryBytes < sandbox.MinCommandMemory || l.MemoryBytes > sandbox.MaxMemory:
		return fmt.Errorf("memory_bytes: got %d, want %d to %d", l.MemoryBytes, sandbox.MinCommandMemory, sandbox.MaxMemory)
	case l.CPUSeconds < 1 || l.CPUSeconds > maxSeconds:
		return fmt.Errorf("cpu_seconds: got %d, want 1 to %d", l.CPUSeconds, maxSeconds)
	case !(l.WallSeconds >= float64(l.CPUSeconds) && l.WallSeconds <= maxSeconds):
		return fmt.Errorf("wall_seconds: got %v, want cpu_seconds (%d) to %d", l.WallSeconds, l.CPUSeconds, maxSeconds)
	case l.SourceBytes < 1 || l.SourceBytes > maxSource:
		return fmt.Errorf("source_bytes: got %d, want 1 to %d", l.SourceBytes, maxSource)
	case l.OutputBytes < 1 || l.OutputBytes > maxOutput:
		return fmt.Errorf("output_bytes: got %d, want 1 to %d", l.OutputBytes, maxOutput)
	}
	for _, p := range l.Packages {
		if !filepath.IsAbs(p) || strings.ContainsAny(p, ":\x00") || strings.HasPrefix(filepath.Clean(p)+"/", "/tmp/") {
			return fmt.Errorf("packages: got %q, want an absolute path, not below /tmp, of which the code sees its own", p)
		}
	}
	return nil
}

const fileName = "main.py"

// command is the spec of a call.
func (l Limits) command(code string) sandbox.CommandSpec {
	s := sandbox.Python(l.Program, l.MemoryBytes)
	// Not isolated mode, which ignores the variables: hashes are to be the same from call to call. The environment has nothing else, and the folder
	// of the program nothing but the program. Output is not held back, so that what was printed before a limit is not lost.
	s.Args = []string{"-S", "-s", "-B", "-u", sandbox.FilesDir + "/" + fileName}
	s.Env = append(s.Env, "PYTHONHASHSEED=0", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "HOME=/tmp")
	if len(l.Packages) > 0 {
		s.Env = append(s.Env, "PYTHONPATH="+strings.Join(l.Packages, ":"))
		for _, p := range l.Packages {
			if !strings.HasPrefix(p, "/usr/") { // all of /usr is shown already
				s.Show = append(s.Show, p)
			}
		}
	}
	s.Files = []sandbox.File{{Name: fileName, Data: []byte(code)}}
	s.CPU = time.Duration(l.CPUSeconds) * time.Second
	return s
}
