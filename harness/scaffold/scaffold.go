// Package scaffold has the harness that a new author starts from, in each language.
package scaffold

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed templates
var templates embed.FS

// Languages lists what [New] knows, as a person writes it.
func Languages() []string { return []string{"star", "python", "node"} }

var files = map[string]string{"star": "harness.star", "python": "harness.py", "node": "harness.mjs"}

// New gives a harness that runs as it is, and the name that its file should have: the extension says the language. An unknown language is
// an error that names the known ones.
func New(lang string) (filename string, src []byte, err error) {
	filename, ok := files[lang]
	if !ok {
		return "", nil, fmt.Errorf("harness new: got the language %q, want %s", lang, strings.Join(Languages(), ", "))
	}
	src, err = templates.ReadFile(path.Join("templates", filename))
	return filename, src, err
}
