package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// documents gives the Markdown files that people read, by path from the root.
func documents(t *testing.T, root string) map[string]string {
	t.Helper()
	docs := map[string]string{}
	read := func(rel string) {
		text, err := os.ReadFile(filepath.Join(root, rel))
		if err != nil {
			t.Fatal(err)
		}
		docs[filepath.ToSlash(rel)] = string(text)
	}
	read("README.md")
	for _, top := range []string{"docs", "changelog", "bench", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(p) != ".md" {
				return err
			}
			rel, err := filepath.Rel(root, p)
			read(rel)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return docs
}

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.+?) *$`)
	code    = regexp.MustCompile("`[^`]*`")
)

// prose gives the lines of a document outside of fenced code.
func prose(text string) []string {
	var out []string
	fenced := false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			out = append(out, line)
		}
	}
	return out
}

// anchors gives the names under which a document's headings can be linked to, as GitHub makes them.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, line := range prose(text) {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		out[b.String()] = true
	}
	return out
}

func TestLinksLeadSomewhere(t *testing.T) {
	root, _ := setup(t)
	docs := documents(t, root)
	seen := 0
	for name, text := range docs {
		for _, line := range prose(text) {
			for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				target := m[1]
				if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
					continue
				}
				seen++
				file, anchor, _ := strings.Cut(target, "#")
				to := name
				if file != "" {
					to = path.Join(path.Dir(name), file)
				}
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
					t.Errorf("%s: the link to %s leads nowhere", name, target)
					continue
				}
				if anchor != "" && !anchors(docs[to])[anchor] {
					t.Errorf("%s: the link to %s: there is no such heading", name, target)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("got %d relative links in %d documents; the test looks at the wrong files", seen, len(docs))
	}
}
