package compare

import (
	"fmt"
	"regexp"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// headers are the lines that begin a function, by language: the indentation, and the name in the first group after it that is not empty.
var headers = map[string]*regexp.Regexp{
	whale.LanguageStar:   regexp.MustCompile(`^()def\s+(\w+)\s*\(`),
	whale.LanguagePython: regexp.MustCompile(`^(\s*)(?:async\s+)?def\s+(\w+)\s*\(`),
	whale.LanguageNode: regexp.MustCompile(`^(\s*)(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\b\s*\*?\s*(\w+)\s*\(` +
		`|(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s+)?(?:function\b|\([^)]*\)\s*=>|\w+\s*=>))`),
}

// byLines compares two programs without knowing their syntax.
func (d *Diff) byLines(a, b Source, langA, langB string) error {
	d.Notes = append(d.Notes,
		"compared by lines, for only Starlark is compared by its syntax; functions are what a scan for their headers found, and prompts and constants are in the line diff")
	d.Lines = unified(string(a.Text), string(b.Text))
	left, right := scan(a, langA), scan(b, langB)
	inA, inB := byKey(left), byKey(right)
	var onlyA, onlyB []unit
	for _, x := range left {
		if _, ok := inB[x.key]; !ok {
			onlyA = append(onlyA, x)
		}
	}
	for _, y := range right {
		x, ok := inA[y.key]
		switch {
		case !ok:
			onlyB = append(onlyB, y)
		case x.text != y.text:
			d.Functions = append(d.Functions, Function{Name: y.name, Change: Changed, LineA: x.line, LineB: y.line})
		}
	}
	d.renamed(&onlyA, &onlyB)
	for _, x := range onlyA {
		d.Functions = append(d.Functions, Function{Name: x.name, Change: Removed, LineA: x.line})
	}
	for _, y := range onlyB {
		d.Functions = append(d.Functions, Function{Name: y.name, Change: Added, LineB: y.line})
	}
	return nil
}

// scan finds functions by their headers. One reaches to the next line of text that is not indented deeper, a closing bracket included.
func scan(s Source, lang string) []unit {
	lines := strings.Split(string(s.Text), "\n")
	seen := map[string]int{}
	var out []unit
	for i, line := range lines {
		m := headers[lang].FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[2]
		if name == "" {
			name = m[3]
		}
		end := i + 1
		for ; end < len(lines); end++ {
			trimmed := strings.TrimSpace(lines[end])
			if trimmed == "" || len(lines[end])-len(strings.TrimLeft(lines[end], " \t")) > len(m[1]) {
				continue
			}
			if trimmed[0] == '}' || trimmed[0] == ')' {
				end++
			}
			break
		}
		seen[name]++
		text := strings.TrimRight(strings.Join(lines[i:end], "\n"), " \t\r\n")
		_, body, _ := strings.Cut(text, name)
		out = append(out, unit{
			kind: kindFunction, name: name, key: fmt.Sprintf("%s #%d", name, seen[name]), line: i + 1, text: text, body: body,
		})
	}
	return out
}
