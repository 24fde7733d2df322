package process

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/sandbox"
)

// sdkPython is the library of programs in Python, and what starts them.
//
//go:embed sdk/whale.py
var sdkPython []byte

// checkPython finds what is wrong with a program in Python.
//
//go:embed sdk/check.py
var checkPython []byte

const sdkName = "whale.py"

// SDK gives the Python library as a file, for authors whose editor wants to know the types.
func SDK() (name string, src []byte) { return sdkName, append([]byte(nil), sdkPython...) }

// LibraryID is the identity of what programs of a language find in their process besides the language itself: under another library a
// program is another harness in all but name. Of Starlark it is [star.LibraryID]; Node programs find nothing.
func LibraryID(language string) whale.ID {
	switch language {
	case whale.LanguageStar:
		return star.LibraryID()
	case whale.LanguagePython:
		return whale.HashBytes("library/"+language, sdkPython)
	}
	return whale.HashBytes("library/"+language, nil)
}

// gateMemory is what a check may take, in bytes.
const gateMemory = 256 << 20

// interpreter runs programs of a language.
type interpreter struct {
	language string
	path     string // absolute, without symbolic links
}

// usual are the places where an interpreter is looked for, in their order; a name without a slash is looked for in PATH. The system's own comes
// first: it needs no folder that the sandbox does not have anyway.
var usual = map[string][]string{
	whale.LanguagePython: {"/usr/bin/python3", "/usr/local/bin/python3", "python3"},
	whale.LanguageNode:   {"/usr/bin/node", "/usr/local/bin/node", "node", "nodejs"},
}

// missing says what to install.
var missing = map[string]string{
	whale.LanguagePython: "harnesses in Python need python3 3.8 or later: install it (Debian: apt-get install python3), or name it with python",
	whale.LanguageNode:   "harnesses in JavaScript need Node 18 or later: install it (Debian: apt-get install nodejs), or name it with node",
}

// interpreter finds the interpreter of a language.
func (r *Runtime) interpreter(_ context.Context, language string) (interpreter, error) {
	chosen := r.opt.Python
	if language == whale.LanguageNode {
		chosen = r.opt.Node
	}
	places := usual[language]
	if chosen != "" {
		places = []string{chosen}
	}
	for _, place := range places {
		found, err := exec.LookPath(place)
		if err == nil {
			found, err = filepath.EvalSymlinks(found)
		}
		if err == nil {
			found, err = filepath.Abs(found)
		}
		if err == nil && isBinary(found) {
			return interpreter{language: language, path: found}, nil
		}
	}
	if chosen != "" {
		return interpreter{}, fmt.Errorf("interpreter %s: no such program that is a binary (%s)", chosen, missing[language])
	}
	return interpreter{}, errors.New(missing[language])
}

// isBinary says whether a file is a program itself and not a script that chooses one, which would need what the sandbox has not.
func isBinary(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [2]byte
	_, err = f.Read(magic[:])
	return err == nil && (string(magic[:]) != "#!" || runtime.GOOS == "windows")
}

// guardTime is a bound of an episode's processor time that only a program meets which nobody waits for any more; the clock of an episode is
// its host's.
const guardTime = time.Hour

// episode is the command of an episode of a program.
func (ip interpreter) episode(name string, src []byte, memory int64) sandbox.CommandSpec {
	file := path.Join(sandbox.FilesDir, name)
	if ip.language == whale.LanguageNode {
		spec := sandbox.Node(ip.path, memory)
		spec.CPU = guardTime
		spec.Files = []sandbox.File{{Name: name, Data: src}}
		spec.Args = append(spec.Args, file)
		return spec
	}
	spec := sandbox.Python(ip.path, memory)
	spec.CPU = guardTime
	spec.Files = []sandbox.File{{Name: sdkName, Data: sdkPython}, {Name: name, Data: src}}
	// Neither other packages (-S) nor the user's (-s) nor files of compiled code (-B). Not -I, which would have hashes differ from process
	// to process, and the order of sets with them.
	spec.Args = []string{"-s", "-S", "-B", path.Join(sandbox.FilesDir, sdkName), file}
	spec.Env = append(spec.Env, "PYTHONHASHSEED=0")
	return spec
}

// gates is the command that looks for what is wrong with a program.
func (ip interpreter) gates(name string, src []byte) sandbox.CommandSpec {
	file := path.Join(sandbox.FilesDir, name)
	if ip.language == whale.LanguageNode {
		spec := sandbox.Node(ip.path, gateMemory)
		spec.Files = []sandbox.File{{Name: name, Data: src}}
		spec.Args = append(spec.Args, "--check", file)
		return spec
	}
	const check = "_check.py"
	spec := sandbox.Python(ip.path, gateMemory)
	spec.Files = []sandbox.File{{Name: check, Data: checkPython}, {Name: name, Data: src}}
	spec.Args = append(spec.Args, path.Join(sandbox.FilesDir, check), file, name)
	return spec
}

// cleanName makes a program's name fit for a file of the sandbox, and for positions in messages.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '/' {
			return '_'
		}
		return r
	}, name)
	if name == sdkName || name == "" || name[0] == '_' || name[0] == '.' { // the names of our own files, and none
		return "program" + name
	}
	return name
}
