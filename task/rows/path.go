package rows

import (
	"fmt"
	"strconv"
	"strings"
)

// part is a step of a path: a name, or an index where the name is empty.
type part struct {
	name  string
	index int
}

// CheckPath reports a path that no row can have a value at, such as one with an open bracket.
func CheckPath(path string) error {
	_, err := parsePath(path)
	return err
}

// maxPath bounds a path, in bytes.
const maxPath = 1000

// parsePath reads name(.name|[index])*.
func parsePath(path string) ([]part, error) {
	bad := func(what string) error { return fmt.Errorf("path %q: %s", clip(path), what) }
	if len(path) > maxPath {
		return nil, bad("too long")
	}
	var parts []part
	rest := path
	for first := true; first || rest != ""; first = false {
		if strings.HasPrefix(rest, "[") && !first {
			digits, after, ok := strings.Cut(rest[1:], "]")
			n, err := strconv.ParseUint(digits, 10, 31)
			if !ok || err != nil {
				return nil, bad("want an index as in [0]")
			}
			parts, rest = append(parts, part{index: int(n)}), after
			continue
		}
		if !first {
			if rest[0] != '.' {
				return nil, bad("want a dot or a bracket after an index")
			}
			rest = rest[1:]
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, bad("want a name, as in answer or prompt[0].content")
		}
		parts, rest = append(parts, part{name: rest[:end]}), rest[end:]
	}
	return parts, nil
}

func join(parts []part) string {
	var b strings.Builder
	for i, p := range parts {
		switch {
		case p.name == "":
			fmt.Fprintf(&b, "[%d]", p.index)
		case i > 0:
			b.WriteString("." + p.name)
		default:
			b.WriteString(p.name)
		}
	}
	return b.String()
}
