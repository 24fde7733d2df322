//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"syscall"
)

// Elsewhere there is no memory limit to rely on, so a worker refuses to serve rather than run unconfined.
func confine(int64) error { return errors.New("sandbox workers need Linux") }

func attributes() *syscall.SysProcAttr { return nil }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func awaitExit(int) {}
