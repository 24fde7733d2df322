package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/recipe"
)

// fenced gives the contents of the code blocks of a language.
func fenced(text, lang string) []string {
	var out []string
	var block []string
	in := false
	for _, line := range strings.Split(text, "\n") {
		switch {
		case !in && line == "```"+lang:
			in, block = true, nil
		case in && strings.HasPrefix(line, "```"):
			in = false
			out = append(out, strings.Join(block, "\n")+"\n")
		case in:
			block = append(block, line)
		}
	}
	return out
}

// Every whale command that the documentation shows exists, has the flags that are shown, and names files that are there.
func TestCommandsParse(t *testing.T) {
	root, bin := setup(t)
	tree, err := commandTree(bin)
	if err != nil {
		t.Fatal(err)
	}
	subs := map[string][]string{}
	for _, c := range tree {
		subs[strings.Join(c.path, " ")] = c.subs
	}
	seen := 0
	problems := map[string]string{} // by command, so that each is started once
	for name, text := range documents(t, root) {
		for _, block := range fenced(text, "sh") {
			for line := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", " "), "\n") {
				line, _, _ = strings.Cut(line, " #")
				args := strings.Fields(line)
				switch {
				case len(args) > 0 && args[0] == "whale":
					args = args[1:]
				case strings.HasPrefix(line, "go run ./cmd/whale "):
					args = args[3:]
				default:
					continue
				}
				seen++
				key := strings.Join(args, " ")
				problem, known := problems[key]
				if !known {
					problem = parseCommand(root, bin, subs, args)
					problems[key] = problem
				}
				if problem != "" {
					t.Errorf("%s: %s: %s", name, strings.TrimSpace(line), problem)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("got %d commands; the test looks at the wrong blocks", seen)
	}
}

// parseCommand says what is wrong with a command line. --help stops a command after its flags are parsed.
func parseCommand(root, bin string, subs map[string][]string, args []string) string {
	path := ""
	for _, a := range args {
		if len(subs[path]) == 0 {
			break
		}
		if strings.HasPrefix(a, "-") {
			continue
		}
		next := strings.TrimSpace(path + " " + a)
		if _, ok := subs[next]; !ok {
			return "there is no command " + next
		}
		path = next
	}
	for _, a := range args {
		for _, top := range []string{"examples/", "organism/", "docs/"} {
			if strings.HasPrefix(a, top) {
				if _, err := os.Stat(filepath.Join(root, a)); err != nil {
					return "there is no file " + a
				}
			}
		}
	}
	out, err := exec.Command(bin, append(append([]string{}, args...), "--help")...).CombinedOutput()
	if err != nil {
		return strings.TrimSpace(string(out))
	}
	return ""
}

// Programs and configs that the documentation shows are accepted.
func TestListingsAreValid(t *testing.T) {
	root, _ := setup(t)
	programs, configs := 0, 0
	for name, text := range documents(t, root) {
		for _, src := range fenced(text, "python") {
			programs++
			for _, f := range harness.Check("listing.star", []byte(src)) {
				t.Errorf("%s: %v", name, f)
			}
		}
		for _, doc := range fenced(text, "yaml") {
			configs++
			if _, err := recipe.ParseConfig(name, []byte(doc)); err != nil {
				t.Errorf("%v in\n%s", err, doc)
			}
		}
	}
	if programs == 0 || configs == 0 {
		t.Errorf("got %d programs and %d configs; the test looks at the wrong blocks", programs, configs)
	}
}
