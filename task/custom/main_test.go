package custom

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// TestMain lets this binary stand in for the programs that tasks run: tools, verifiers, MCP servers.
func TestMain(m *testing.M) {
	sandbox.Main(sandbox.Entries{})
	if role := os.Getenv("CUSTOM_TEST_ROLE"); role != "" {
		os.Exit(play(role))
	}
	goleak.VerifyTestMain(m)
}

// play is a program of a task's owner, good or bad.
func play(role string) int {
	in := bufio.NewReader(os.Stdin)
	switch role {
	case "echo": // says what it was asked
		var args map[string]json.RawMessage
		if err := json.NewDecoder(in).Decode(&args); err != nil {
			return 2
		}
		out, _ := json.Marshal(args)
		fmt.Println(string(out))
	case "hang":
		time.Sleep(time.Hour)
	case "flood":
		for {
			if _, err := fmt.Println(strings.Repeat("x", 1000)); err != nil {
				return 0
			}
		}
	case "floodjson":
		fmt.Print(`{"text": "` + strings.Repeat("x", 1<<20) + `"}`)
	case "mistake":
		fmt.Fprintln(os.Stderr, "noise\nno such word")
		return 3
	case "again":
		fmt.Fprintln(os.Stderr, "disk full")
		return 75
	case "die":
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		time.Sleep(time.Hour)
	case "garbage":
		fmt.Println("this is no JSON")
	case "json":
		fmt.Println(`{"text": "found", "data": {"n": 1}}`)
	case "jsonerror":
		fmt.Println(`{"text": "", "error": "no such word"}`)
	case "child": // leaves a process behind
		return leaveChild()
	case "mcp":
		return serveMCP()
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "right", "wrong", "half", "metrics", "unknown", "nothing", "fail":
		return judgeAs(role, in)
	}
	return 0
}

// judgeAs is a verifier command.
func judgeAs(role string, in *bufio.Reader) int {
	var got Judged
	if err := json.NewDecoder(in).Decode(&got); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch role {
	case "right":
		var want string
		_ = json.Unmarshal(got.Reference["answer"], &want)
		if got.Answer == want {
			fmt.Println(`{"reward": 1, "reason": ""}`)
		} else {
			fmt.Println(`{"reward": 0, "reason": "another\nanswer", "metrics": {"length": 3}}`)
		}
	case "half":
		fmt.Println(`{"reward": 0.5, "reason": "half right"}`)
	case "unknown":
		fmt.Println(`{"reward": 1, "reason": "", "score": 3}`)
	case "metrics":
		fmt.Println(`{"reward": 1, "reason": "", "metrics": {"Bad Name": 1}}`)
	case "fail":
		fmt.Println(`{"reward": 1, "reason": ""}`)
		return 1
	case "nothing":
	}
	return 0
}

// write makes a folder of files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// head is the beginning of a task.yaml for rows with a question and an answer in train.jsonl.
const head = `name: mine
about: Questions.
data: {splits: {train: [train.jsonl]}}
view: {question: question}
answer: [answer]
`

const rowsText = `{"question": "What is 2 + 3?", "answer": "5"}
{"question": "Who wrote Emma?", "answer": ["Jane Austen", "Austen"]}
`

// folder is a task's folder with head and what is given.
func folder(t *testing.T, yaml string, more ...string) string {
	t.Helper()
	files := map[string]string{"task.yaml": head + yaml, "train.jsonl": rowsText, "h0.star": "def run(task, model, env):\n    return None\n"}
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return write(t, files)
}

// deps give this process's environment, with the test binary's role.
func deps(role string) Deps {
	return Deps{Getenv: func(name string) string {
		if name == "CUSTOM_TEST_ROLE" {
			return role
		}
		return os.Getenv(name)
	}}
}

// self is a command that runs this binary.
func self() string { return fmt.Sprintf("{run: [%q], env: [CUSTOM_TEST_ROLE]", os.Args[0]) }

func newTask(t *testing.T, dir string, d Deps) *Task {
	t.Helper()
	task, err := New(t.Context(), Config{Folder: dir}, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := task.Close(); err != nil {
			t.Error(err)
		}
	})
	return task
}
