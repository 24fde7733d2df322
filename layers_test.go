package whale_test

import (
	"os/exec"
	"strings"
	"testing"
)

// layers is the plan of the house: a room imports only rooms of lower layers.
// A package belongs to the room of its first folder.
var layers = []struct {
	prefix string
	layer  int
}{
	{"", 0},
	{"strictyaml", 1},
	{"lm", 1},
	{"store", 1},
	{"stats", 1},
	{"sandbox", 1},
	{"harness", 2},
	{"task", 2},
	{"policy", 2},
	{"rollout", 3},
	{"organism", 3},
	{"modelupdate", 4},
	{"metaharness", 4},
	{"recipe", 5},
	{"report", 6},
	{"export", 6},
	{"dashboard", 6},
	{"cmd", 7},
	{"examples", 7}, // tests that run what the examples hold
	{"bench", 7},
}

const module = "github.com/seed-095d5d2b/whale"

// room gives the top-level folder of a package of this module ("" for the root) and its layer.
func room(path string) (string, int, bool) {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	top, _, _ := strings.Cut(rel, "/")
	for _, l := range layers {
		if l.prefix == top {
			return top, l.layer, true
		}
	}
	return top, 0, false
}

func TestLayers(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	checked := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from, fromLayer, ok := room(fields[0])
		if !ok {
			t.Errorf("%s: its room %q has no layer; add it to the table in layers_test.go and to docs/design.md", fields[0], from)
			continue
		}
		for _, imp := range fields[1:] {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			to, toLayer, ok := room(imp)
			if !ok || from == to {
				continue
			}
			checked++
			if toLayer >= fromLayer {
				t.Errorf("%s (layer %d) imports %s (layer %d): lower rooms never import upper ones, and rooms of one layer do not know each other; "+
					"move what is shared down, or pass it in", fields[0], fromLayer, imp, toLayer)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d imports between rooms were checked; the test looks at the wrong packages", checked)
	}
}

// TestBadNames keeps rooms that mean nothing out of the house.
func TestBadNames(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "util", "utils", "common", "helpers", "types", "misc":
			t.Errorf("%s: a package named %s says nothing; name it by what lives there", path, name)
		}
	}
}
