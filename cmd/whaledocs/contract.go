package main

import (
	"fmt"
	"strings"

	"github.com/seed-095d5d2b/whale/harness/audit"
	"github.com/seed-095d5d2b/whale/harness/process"
	"github.com/seed-095d5d2b/whale/harness/star"
)

// contractPage is the contract's reference. It is written for readers of plain text, a proposer among them; here its angle brackets are
// escaped, which Markdown would take for HTML and hide.
func contractPage(source) (string, error) { return escapeTags(star.Reference()), nil }

// protocolPage is the reference of the contract over a pipe.
func protocolPage(source) (string, error) { return escapeTags(process.Reference()), nil }

// auditBlock lists what the audit looks for.
func auditBlock(source) (string, error) {
	var b strings.Builder
	b.WriteString("\n| rule | what is found |\n|---|---|\n")
	for _, r := range audit.Rules() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Name, escapeTags(r.About))
	}
	b.WriteString("\n")
	return b.String(), nil
}

// escapeTags escapes < outside of code.
func escapeTags(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") {
			b.WriteString(line)
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if i > 0 {
				b.WriteByte('`')
			}
			if i%2 == 0 {
				part = strings.ReplaceAll(part, "<", "&lt;")
			}
			b.WriteString(part)
		}
	}
	return b.String()
}
