package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// stage is what a worker is told by its argument, before it reads anything: by the parent for the first stage, and by that for the
// second.
type stage struct {
	Second bool `json:"second,omitempty"`
	// Without names mechanisms to leave out. Only tests do.
	Without []string `json:"without,omitempty"`

	Parent user `json:"parent"` // whom the namespaces have to map

	// What became of the namespaces and of the two mechanisms of the first stage; empty is in force.
	Namespaces string `json:"namespaces,omitempty"`
	Root       string `json:"root,omitempty"`
	Landlock   string `json:"landlock,omitempty"`

	LandlockVersion int `json:"landlock_version,omitempty"`
}

// user is who this process is outside of the namespaces of a child.
type user struct {
	User  int `json:"user"`
	Group int `json:"group"`
}

func thisUser() user { return user{os.Geteuid(), os.Getegid()} }

// switchedOff is why a mechanism is missing that a test left out.
const switchedOff = "switched off"

func (s stage) leavesOut(mechanism string) bool { return slices.Contains(s.Without, mechanism) }

// arguments are the command line of a worker after its program.
func (s stage) arguments() []string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and numbers
	}
	return []string{workerArg, string(text)}
}

// workerStage reads the command line of a worker; ok is false in any other process.
func workerStage(args []string) (s stage, ok bool, err error) {
	if len(args) != 3 || args[1] != workerArg {
		return s, false, nil
	}
	err = json.Unmarshal([]byte(args[2]), &s)
	return s, true, err
}

// commandArg is the first argument of the process that becomes bubblewrap.
const commandArg = "__command"

// checkMain finds out that a program does not call [Main] though it was started as what that would make of it. Otherwise it would start
// itself again and again.
func checkMain(args []string) error {
	if len(args) > 1 && (args[1] == workerArg || args[1] == commandArg) {
		return fmt.Errorf("%w: the program must call sandbox.Main first", ErrStart)
	}
	return nil
}

// nobody is the user and group that whatever runs here sees itself as.
const nobody = 65534
