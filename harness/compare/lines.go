package compare

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

var hunk = regexp.MustCompile(`^@@ -(\d+),(\d+) \+(\d+),(\d+) @@`)

// lineDiff gives the hunks between two units' lines, numbered as in their files. A unit without a line is absent.
func lineDiff(x, y unit) string {
	return shifted(unified(x.text, y.text), max(0, x.line-1), max(0, y.line-1))
}

// unified gives the hunks of a unified diff, without its header; "" where the texts are equal.
func unified(old, new string) string {
	terminated := func(s string) []byte {
		if s == "" || strings.HasSuffix(s, "\n") {
			return []byte(s)
		}
		return []byte(s + "\n")
	}
	out := string(diff.Diff("a", terminated(old), "b", terminated(new)))
	if at := strings.Index(out, "@@"); at >= 0 {
		return out[at:]
	}
	return ""
}

// shifted adds to the line numbers of hunks.
func shifted(hunks string, a, b int) string {
	var out strings.Builder
	for line := range strings.Lines(hunks) {
		if m := hunk.FindStringSubmatch(line); m != nil {
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[3])
			line = fmt.Sprintf("@@ -%d,%s +%d,%s @@\n", moved(from, m[2], a), m[2], moved(to, m[4], b), m[4])
		}
		out.WriteString(line)
	}
	return out.String()
}

// moved shifts the start of a side of a hunk; a side without lines has none.
func moved(start int, count string, by int) int {
	if count == "0" && start == 0 {
		return 0
	}
	return start + by
}
