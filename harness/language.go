package harness

import (
	"path/filepath"

	whale "github.com/seed-095d5d2b/whale"
)

// extensions are those of each language's files; the first is the one that is written.
var extensions = []struct {
	language string
	names    []string
}{
	{whale.LanguageStar, []string{".star"}},
	{whale.LanguagePython, []string{".py"}},
	{whale.LanguageNode, []string{".mjs", ".js"}},
}

// Languages lists the languages that a harness may be written in, Starlark first.
func Languages() []string {
	var out []string
	for _, e := range extensions {
		out = append(out, e.language)
	}
	return out
}

// Extension is the extension of a language's files, with the dot; "" for one that is not known.
func Extension(language string) string {
	for _, e := range extensions {
		if e.language == language {
			return e.names[0]
		}
	}
	return ""
}

// LanguageOf gives the language of a file by its extension; "" where it is not known.
func LanguageOf(name string) string {
	for _, e := range extensions {
		for _, n := range e.names {
			if filepath.Ext(name) == n {
				return e.language
			}
		}
	}
	return ""
}
