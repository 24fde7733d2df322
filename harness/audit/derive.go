package audit

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"

	"go.starlark.net/syntax"

	"github.com/seed-095d5d2b/whale/harness/star/pyre"
)

var errBudget = errors.New("the budget is used up")

// column is how a value is made of one field of the task's text. Its values over the examples are a column of what a program would
// see there: a text, an int64 or a list of texts each, or nil where the operation fails.
type column struct {
	key    string // identifies it
	field  string // of the view, where parent is nil
	parent *column
	f      func(v any) any
}

// maxColumnKey bounds how long a chain of operations is followed.
const maxColumnKey = 400

func fieldColumn(name string) *column { return &column{key: "." + name, field: name} }

func derive(parent *column, op string, f func(v any) any) *column {
	if parent == nil || len(parent.key)+len(op) > maxColumnKey {
		return nil
	}
	return &column{key: parent.key + "|" + op, parent: parent, f: f}
}

// onText lifts a function of texts.
func onText(f func(s string) any) func(v any) any {
	return func(v any) any {
		if s, ok := v.(string); ok {
			return f(s)
		}
		return nil
	}
}

func textColumn(c *column) *column {
	return derive(c, "str", func(v any) any {
		switch v := v.(type) {
		case string:
			return v
		case int64:
			return strconv.FormatInt(v, 10)
		}
		return nil
	})
}

func textMethodColumn(c *column, name string) *column {
	return derive(c, name, onText(func(s string) any {
		switch name {
		case "lower":
			return strings.ToLower(s)
		case "upper":
			return strings.ToUpper(s)
		case "strip":
			return strings.TrimSpace(s)
		case "lstrip":
			return strings.TrimLeft(s, " \t\r\n")
		case "rstrip":
			return strings.TrimRight(s, " \t\r\n")
		case "splitlines":
			return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
		case "elems", "codepoints":
			return strings.Split(s, "")
		}
		return titled(s, name == "title")
	}))
}

func splitColumn(c *column, sep *val) *column {
	if sep == nil {
		return derive(c, "split", onText(func(s string) any { return strings.Fields(s) }))
	}
	if sep.s == "" {
		return nil
	}
	return derive(c, "split"+sep.s, onText(func(s string) any { return strings.Split(s, sep.s) }))
}

func replaceColumn(c *column, old, with string) *column {
	if old == "" || len(with) > 256 {
		return nil
	}
	return derive(c, "replace"+old+"\x00"+with, onText(func(s string) any { return strings.ReplaceAll(s, old, with) }))
}

func countColumn(c *column, name string, needle *val) *column {
	if needle == nil || !needle.isString() {
		return nil
	}
	return derive(c, name+needle.s, onText(func(s string) any {
		switch name {
		case "find", "index":
			return int64(strings.Index(s, needle.s))
		case "rfind", "rindex":
			return int64(strings.LastIndex(s, needle.s))
		}
		return int64(strings.Count(s, needle.s))
	}))
}

func indexColumn(c *column, i int) *column {
	return derive(c, "["+strconv.Itoa(i)+"]", func(v any) any {
		switch v := v.(type) {
		case string:
			if k, ok := within(i, len(v)); ok {
				return v[k : k+1]
			}
		case []string:
			if k, ok := within(i, len(v)); ok {
				return v[k]
			}
		}
		return nil
	})
}

func within(i, n int) (int, bool) {
	if i < 0 {
		i += n
	}
	return i, i >= 0 && i < n
}

func groupColumn(c *column, i int) *column { return indexColumn(c, i) }

func lenColumn(c *column) *column {
	return derive(c, "len", func(v any) any {
		switch v := v.(type) {
		case string:
			return int64(len(v))
		case []string:
			return int64(len(v))
		}
		return nil
	})
}

func intColumn(c *column) *column {
	return derive(c, "int", func(v any) any {
		switch v := v.(type) {
		case int64:
			return v
		case string:
			if n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
				return n
			}
		}
		return nil
	})
}

func hashColumn(c *column) *column {
	return derive(c, "hash", onText(func(s string) any { return javaHash(s) }))
}

// javaHash is the hash of a string in Starlark.
func javaHash(s string) int64 {
	var h int32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return int64(h)
}

func arithColumn(c *column, op syntax.Token, by *big.Int, swapped bool) *column {
	if !by.IsInt64() {
		return nil
	}
	k := by.Int64()
	if k == 0 || k > 1<<40 || k < -1<<40 {
		return nil
	}
	name := op.String() + strconv.FormatInt(k, 10)
	if swapped {
		name = "r" + name
	}
	return derive(c, name, func(v any) any {
		n, ok := v.(int64)
		if !ok || n > 1<<40 || n < -1<<40 {
			return nil
		}
		a, b := n, k
		if swapped {
			a, b = k, n
		}
		switch op {
		case syntax.PLUS:
			return a + b
		case syntax.MINUS:
			return a - b
		case syntax.STAR:
			if a != 0 && (b > 1<<62/abs(a) || b < -(1<<62)/abs(a)) {
				return nil
			}
			return a * b
		case syntax.PERCENT, syntax.SLASHSLASH:
			if b == 0 {
				return nil
			}
			q, r := a/b, a%b
			if r != 0 && (r < 0) != (b < 0) {
				q, r = q-1, r+b
			}
			if op == syntax.PERCENT {
				return r
			}
			return q
		}
		return nil
	})
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

func sliceColumn(c *column, bounds [3]*int) *column {
	name := "["
	for _, b := range bounds {
		if b != nil {
			name += strconv.Itoa(*b)
		}
		name += ":"
	}
	return derive(c, name, func(v any) any {
		switch v := v.(type) {
		case string:
			return sliceString(v, bounds)
		case []string:
			var out []string
			for _, i := range indices(len(v), bounds) {
				out = append(out, v[i])
			}
			return out
		}
		return nil
	})
}

// indices gives the places that a slice selects of n.
func indices(n int, bounds [3]*int) []int {
	step := 1
	if bounds[2] != nil {
		step = *bounds[2]
	}
	if step == 0 || step < -1<<30 || step > 1<<30 {
		return nil
	}
	bound := func(b *int, def int) int {
		if b == nil {
			return def
		}
		i := *b
		if i < 0 {
			i += n
		}
		if step > 0 {
			return min(max(i, 0), n)
		}
		return min(max(i, -1), n-1)
	}
	lo, hi := bound(bounds[0], 0), bound(bounds[1], n)
	if step < 0 {
		lo, hi = bound(bounds[0], n-1), bound(bounds[1], -1)
		if bounds[1] == nil {
			hi = -1
		}
	}
	var out []int
	for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
		out = append(out, i)
	}
	return out
}

func sliceString(s string, bounds [3]*int) string {
	if bounds[2] == nil || *bounds[2] == 1 {
		list := indices(len(s), [3]*int{bounds[0], bounds[1], nil})
		if len(list) == 0 {
			return ""
		}
		return s[list[0] : list[len(list)-1]+1]
	}
	var b strings.Builder
	for _, i := range indices(len(s), bounds) {
		b.WriteByte(s[i])
	}
	return b.String()
}

// textPattern runs a pattern over an example's text within a small budget.
func textPattern(p string, all bool) func(s string) any {
	re, err := pyre.Compile(p, 0)
	if err != nil {
		return nil
	}
	return func(s string) any {
		left := 2000 + 20*len(s)
		budget := func(steps int) error {
			if left -= steps; left < 0 {
				return errBudget
			}
			return nil
		}
		if !all {
			spans, err := re.Find(s, 0, pyre.Search, budget)
			if err != nil || spans == nil {
				return nil
			}
			out := make([]string, 0, len(spans)/2)
			for i := 0; i+1 < len(spans); i += 2 {
				if spans[i] < 0 {
					out = append(out, "")
				} else {
					out = append(out, s[spans[i]:spans[i+1]])
				}
			}
			return out
		}
		found, err := re.FindAll(s, 64, budget)
		if err != nil || re.NumGroups() > 1 {
			return nil
		}
		out := make([]string, 0, len(found))
		for _, spans := range found {
			if g := 2 * re.NumGroups(); spans[g] >= 0 {
				out = append(out, s[spans[g]:spans[g+1]])
			} else {
				out = append(out, "")
			}
		}
		return out
	}
}

func matchColumn(c *column, p string) *column {
	if f := textPattern(p, false); f != nil {
		return derive(c, "match"+p, onText(f))
	}
	return nil
}

func findallColumn(c *column, p string) *column {
	if f := textPattern(p, true); f != nil {
		return derive(c, "findall"+p, onText(f))
	}
	return nil
}

// matchOf is a match over constants: its groups are known. It is a list whose method group is an index.
func matchOf(groups *val) *val { return groups }
