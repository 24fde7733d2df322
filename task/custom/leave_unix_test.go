//go:build unix

package custom

import (
	"fmt"
	"os"
	"os/exec"
)

// leaveChild ends but leaves a process that holds its output.
func leaveChild() int {
	cmd := exec.Command("sleep", "60")
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		return 1
	}
	fmt.Println(cmd.Process.Pid)
	return 0
}
