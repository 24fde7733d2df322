package calc

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"
)

// A methodCost charges for a call of a method before it is made. Arguments of the wrong kind it leaves to the method.
type methodCost func(m *machine, x starlark.Value, args starlark.Tuple) error

// methodCosts are those of every method, by type and name.
var methodCosts = map[string]map[string]methodCost{
	"bytes": {"elems": boxed},
	"dict": {
		"clear": tableWide, "get": keyed, "items": perElement(sizePair), "keys": perElement(sizePointer), "pop": keyed, "popitem": boxed,
		"setdefault": entered, "update": updated, "values": perElement(sizePointer),
	},
	"list": {
		"append": appended, "clear": tableWide, "extend": extended, "index": searched, "insert": shifted, "pop": popped, "remove": removed,
	},
	"set": {
		"add": entered, "clear": tableWide, "difference": combined, "discard": keyed, "intersection": combined, "issubset": combined,
		"issuperset": combined, "pop": boxed, "remove": keyed, "symmetric_difference": combined, "union": combined, "update": combined,
	},
	"string": {
		"capitalize": mapped, "codepoint_ords": boxed, "codepoints": boxed, "count": scanned, "elem_ords": boxed, "elems": boxed,
		"endswith": prefixed, "find": scanned, "format": notFormatted, "index": scanned, "isalnum": scanned, "isalpha": scanned,
		"isdigit": scanned, "islower": scanned, "isspace": scanned, "istitle": scanned, "isupper": scanned, "join": joined, "lower": mapped,
		"lstrip": stripped, "partition": scanned, "removeprefix": prefixed, "removesuffix": prefixed, "replace": replaced, "rfind": scanned,
		"rindex": scanned, "rpartition": scanned, "rsplit": split, "rstrip": stripped, "split": split, "splitlines": lines,
		"startswith": prefixed, "strip": stripped, "title": mapped, "upper": mapped,
	},
}

// argText is argument i where it is text.
func argText(args starlark.Tuple, i int) string {
	if i < len(args) {
		if s, ok := args[i].(starlark.String); ok {
			return string(s)
		}
	}
	return ""
}

func boxed(m *machine, _ starlark.Value, _ starlark.Tuple) error { return m.make(2 * sizeBox) }

// tableWide is for methods that go through all of a container.
func tableWide(m *machine, x starlark.Value, _ starlark.Tuple) error {
	return m.spend(uint64(starlark.Len(x)) / 4)
}

func perElement(size int) methodCost {
	return func(m *machine, x starlark.Value, _ starlark.Tuple) error {
		n := starlark.Len(x)
		if err := m.spend(uint64(n)); err != nil {
			return err
		}
		return m.make(sizeBox + n*size)
	}
}

func keyed(m *machine, _ starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	return m.key(args[0])
}

func entered(m *machine, _ starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	return m.entry(args[0])
}

// updated is dict.update, and what the function dict does with its argument.
func updated(m *machine, _ starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	if d, ok := args[0].(*starlark.Dict); ok {
		return m.elements(d, m.entry)
	}
	items, ok := args[0].(starlark.Iterable)
	if !ok {
		return nil
	}
	return m.elements(items, func(pair starlark.Value) error {
		if p, ok := pair.(starlark.Indexable); ok && p.Len() == 2 {
			return m.entry(p.Index(0))
		}
		return m.make(sizeEntry)
	})
}

func combined(m *machine, x starlark.Value, args starlark.Tuple) error {
	for _, v := range append(starlark.Tuple{x}, args...) {
		items, ok := v.(starlark.Iterable)
		if !ok {
			return nil
		}
		if err := m.make(sizeTable); err != nil {
			return err
		}
		if err := m.elements(items, m.entry); err != nil {
			return err
		}
	}
	return nil
}

func appended(m *machine, x starlark.Value, _ starlark.Tuple) error {
	if starlark.Len(x) >= maxElements {
		return errTooLarge
	}
	return m.make(sizeGrown)
}

func extended(m *machine, x starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	items, ok := args[0].(starlark.Iterable)
	if !ok {
		return nil
	}
	n, err := m.count(items)
	if err != nil {
		return err
	}
	if n > maxElements-starlark.Len(x) {
		return errTooLarge
	}
	if err := m.spend(uint64(n)); err != nil {
		return err
	}
	return m.make(n * sizeGrown)
}

func searched(m *machine, x starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	_, err := m.find(x.(starlark.Indexable), args[0], 0)
	return err
}

func shifted(m *machine, x starlark.Value, args starlark.Tuple) error {
	if err := m.spend(uint64(starlark.Len(x)) / 16); err != nil {
		return err
	}
	return appended(m, x, args)
}

func popped(m *machine, x starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	return m.spend(uint64(starlark.Len(x)) / 16)
}

func removed(m *machine, x starlark.Value, args starlark.Tuple) error {
	if err := popped(m, x, args); err != nil {
		return err
	}
	return searched(m, x, args)
}

func scanned(m *machine, x starlark.Value, args starlark.Tuple) error {
	n, _ := text(x)
	if err := m.make(2 * sizeBox); err != nil {
		return err
	}
	return m.scan(n + len(argText(args, 0)))
}

// mapped is for methods that change letters. None takes more than three times its bytes.
func mapped(m *machine, x starlark.Value, _ starlark.Tuple) error {
	n, _ := text(x)
	if err := m.make(3 * n); err != nil {
		return err
	}
	return m.spend(uint64(n) / 2)
}

// prefixed compares with one string or a tuple of them.
func prefixed(m *machine, _ starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	if err := m.spend(uint64(len(argText(args, 0))) / bytesPerStep); err != nil {
		return err
	}
	options, ok := args[0].(starlark.Tuple)
	if !ok {
		return nil
	}
	return m.elements(options, func(v starlark.Value) error {
		n, _ := text(v)
		return m.spend(uint64(n) / bytesPerStep)
	})
}

func stripped(m *machine, x starlark.Value, args starlark.Tuple) error {
	n, _ := text(x)
	set := argText(args, 0)
	if err := m.scan(n + len(set)); err != nil {
		return err
	}
	for i := range len(set) {
		if set[i] >= 0x80 { // each letter is looked for in the set
			return m.spendProduct(uint64(n), uint64(len(set))/lettersPerStep)
		}
	}
	return nil
}

func split(m *machine, x starlark.Value, args starlark.Tuple) error {
	s := string(x.(starlark.String))
	if err := m.scan(len(s)); err != nil {
		return err
	}
	pieces := len(s)/2 + 1
	if sep := argText(args, 0); sep != "" {
		pieces = strings.Count(s, sep) + 1
	}
	return m.pieces(pieces)
}

func lines(m *machine, x starlark.Value, _ starlark.Tuple) error {
	s := string(x.(starlark.String))
	if err := m.scan(len(s)); err != nil {
		return err
	}
	return m.pieces(strings.Count(s, "\n") + strings.Count(s, "\r") + 1)
}

func (m *machine) pieces(n int) error {
	if err := m.spend(uint64(n)); err != nil {
		return err
	}
	return m.make(n * (3 * sizePointer))
}

func joined(m *machine, x starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	items, ok := args[0].(starlark.Iterable)
	if !ok {
		return nil
	}
	sep, _ := text(x)
	total := 0
	err := m.elements(items, func(v starlark.Value) error {
		n, _ := text(v)
		if total += n + sep; total > maxElements {
			return errTooLarge
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.make(2 * total)
}

func replaced(m *machine, x starlark.Value, args starlark.Tuple) error {
	s, old, with := string(x.(starlark.String)), argText(args, 0), argText(args, 1)
	if err := m.scan(len(s) + len(old)); err != nil {
		return err
	}
	places := len(s) + 1
	if old != "" {
		places = strings.Count(s, old)
	}
	if len(with) > 0 && places > maxElements/len(with) || len(s)+places*len(with) > maxElements {
		return errTooLarge
	}
	if err := m.spend(uint64(places)); err != nil {
		return err
	}
	return m.make(len(s) + places*len(with))
}

func notFormatted(*machine, starlark.Value, starlark.Tuple) error { return errFormat }

var errFormat = errors.New("format is not available: print the values instead, as in print(\"x =\", x), or use round")
