//go:build !linux

package sandbox

import (
	"os"
	"syscall"
)

// Elsewhere a worker is a plain process: a crash stays in it, and the runtime's own limit on its memory is a wish. Every mechanism is
// reported missing, so whoever requires them is refused.
const unsupported = "needs Linux"

func enter(stage) error { return nil }

func confine(stage, int64) ([]Mechanism, error) {
	var all []Mechanism
	for _, name := range []string{MechanismProcess, MechanismMemory, MechanismLandlock, MechanismSeccomp, MechanismNamespaces} {
		all = append(all, Mechanism{name, false, unsupported})
	}
	return all, nil
}

const workerNamespaces = 0

func workerCapabilities() []uintptr { return nil }

func attributes(uintptr, []uintptr) *syscall.SysProcAttr { return nil }

func noNamespaces(error) string { return "" }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func awaitExit(int) {}
