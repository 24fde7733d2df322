package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var journalKind = regexp.MustCompile(`(?m)^\t[kK]ind\w+ += "([a-z-]+/[a-z-]+)"`)

// The design page lists every kind of journal entry.
func TestJournalKindsAreListed(t *testing.T) {
	root, _ := setup(t)
	design, err := os.ReadFile(filepath.Join(root, "docs/design.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, dir := range []string{"recipe", "metaharness"} {
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			source, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range journalKind.FindAllStringSubmatch(string(source), -1) {
				found++
				if !strings.Contains(string(design), "| `"+m[1]+"` |") {
					t.Errorf("docs/design.md: the table of journal entries lacks %s", m[1])
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("got %d kinds; the test looks at the wrong files", found)
	}
}

var moduleCell = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// The page of dependencies lists the modules that the code imports, and no others.
func TestDependenciesAreListed(t *testing.T) {
	root, _ := setup(t)
	page, err := os.ReadFile(filepath.Join(root, "docs/dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range moduleCell.FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = false
	}
	for _, path := range importedPaths(t, root) {
		found := false
		for mod := range listed {
			if path == mod || strings.HasPrefix(path, mod+"/") {
				listed[mod], found = true, true
			}
		}
		if !found {
			t.Errorf("docs/dependencies.md: %s is imported and its module is not listed", path)
		}
	}
	for mod, used := range listed {
		if !used {
			t.Errorf("docs/dependencies.md: %s is listed and not imported", mod)
		}
	}
}

// importedPaths lists the import paths of other modules, those of tests included.
func importedPaths(t *testing.T, root string) []string {
	t.Helper()
	const format = `{{range .Imports}}{{.}} {{end}}{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}}`
	cmd := exec.Command("go", "list", "-f", format, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var paths []string
	for _, p := range strings.Fields(string(out)) {
		first, _, _ := strings.Cut(p, "/")
		if strings.Contains(first, ".") && p != module && !strings.HasPrefix(p, module+"/") {
			paths = append(paths, p)
		}
	}
	return paths
}
