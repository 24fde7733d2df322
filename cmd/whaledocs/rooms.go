package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	layerLine  = regexp.MustCompile(`(?m)^\t\{"(\w*)", (\d+)\},`)
	introduced = regexp.MustCompile(`^(Package|Command) \w+ `)
	docLink    = regexp.MustCompile(`\[([\w.]+)\]`)
)

// roomsBlock lists the packages by layer, with the first sentence of each package's comment. The layers are those of layers_test.go.
func roomsBlock(src source) (string, error) {
	table, err := os.ReadFile(filepath.Join(src.root, "layers_test.go"))
	if err != nil {
		return "", err
	}
	layers := map[string]string{}
	for _, m := range layerLine.FindAllStringSubmatch(string(table), -1) {
		layers[m[1]] = m[2]
	}
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./...")
	cmd.Dir = src.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	var rows []string
	for line := range strings.Lines(string(out)) {
		path, doc, _ := strings.Cut(strings.TrimSpace(line), "\t")
		rel := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		top, _, _ := strings.Cut(rel, "/")
		layer, ok := layers[top]
		if !ok || doc == "" {
			continue // no room (examples, scratch), or a package that only tests
		}
		if rel == "" {
			rel = "whale" // the module's root
		}
		doc = docLink.ReplaceAllString(strings.TrimRight(introduced.ReplaceAllString(doc, ""), ":"), "$1")
		rows = append(rows, fmt.Sprintf("| %s | `%s` | %s |\n", layer, rel, cell(doc)))
	}
	slices.Sort(rows)
	return "| layer | package | what lives there |\n|---|---|---|\n" + strings.Join(rows, ""), nil
}
