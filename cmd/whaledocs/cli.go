package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// buildWhale builds the command: package main cannot be imported, and what users see is the binary's own help.
func buildWhale(root string) (bin string, done func(), err error) {
	dir, err := os.MkdirTemp("", "whaledocs")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(dir) }
	bin = filepath.Join(dir, "whale")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/whale")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		done()
		return "", nil, fmt.Errorf("go build ./cmd/whale: %w: %s", err, out)
	}
	return bin, done, nil
}

// command is a command of the tree, with its help.
type command struct {
	path []string // without "whale"
	help string
	subs []string
}

var (
	subCommand     = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*)  +\S`)
	workersDefault = regexp.MustCompile(`(?m)^(.*--workers int .*) \(default \d+\)$`)
	exitCode       = regexp.MustCompile(`(?m)^ +(\d+)  (.+)$`)
)

// commandTree gives all commands, each before its sub-commands.
func commandTree(bin string, path ...string) ([]command, error) {
	out, err := exec.Command(bin, append(append([]string{}, path...), "--help")...).Output()
	if err != nil {
		return nil, fmt.Errorf("whale %s --help: %w", strings.Join(path, " "), err)
	}
	// The default is the number of cores of the machine that runs the command.
	c := command{path: path, help: workersDefault.ReplaceAllString(string(out), "$1 (default: all)")}
	if _, list, ok := strings.Cut(c.help, "Available Commands:\n"); ok {
		list, _, _ = strings.Cut(list, "\n\n")
		for _, m := range subCommand.FindAllStringSubmatch(list, -1) {
			if m[1] != "help" { // cobra's own
				c.subs = append(c.subs, m[1])
			}
		}
	}
	tree := []command{c}
	for _, s := range c.subs {
		sub, err := commandTree(bin, append(append([]string{}, path...), s)...)
		if err != nil {
			return nil, err
		}
		tree = append(tree, sub...)
	}
	return tree, nil
}

func cliPage(src source) (string, error) {
	tree, err := commandTree(src.bin)
	if err != nil {
		return "", err
	}
	root := tree[0].help
	before, codes, ok := strings.Cut(root, "Exit codes:\n")
	if !ok {
		return "", fmt.Errorf("whale --help: got no exit codes, want a paragraph of them")
	}
	codes, after, _ := strings.Cut(codes, "\n\n")
	tree[0].help = strings.TrimRight(before, "\n") + "\n\n" + after

	var b strings.Builder
	b.WriteString("# The command line\n\nWhat each command prints as its help. Progress goes to standard error, results to standard output.\n\n")
	b.WriteString("## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, m := range exitCode.FindAllStringSubmatch(codes, -1) {
		fmt.Fprintf(&b, "| %s | %s |\n", m[1], cell(m[2]))
	}
	for _, c := range tree {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n", strings.Join(append([]string{"whale"}, c.path...), " "), strings.TrimRight(c.help, "\n"))
	}
	return b.String(), nil
}
