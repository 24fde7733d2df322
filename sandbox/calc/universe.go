package calc

import (
	"errors"
	"fmt"
	"math/bits"
	"sort"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// ownFuncs replace Starlark's functions of the same name, or are not among them.
var ownFuncs = map[string]builtinFunc{
	"print": printBuiltin, "str": strBuiltin, "repr": reprBuiltin, "int": intBuiltin, "float": floatBuiltin, "range": rangeBuiltin,
	"sum": sumBuiltin, "round": roundBuiltin, "pow": powBuiltin, "divmod": divmodBuiltin, "map": mapBuiltin, "filter": filterBuiltin,
	"abs": absBuiltin, "any": anyOf(true), "all": anyOf(false), "min": extremum(syntax.LT), "max": extremum(syntax.GT), "sorted": sorted,
	"fail": fail, "bytes": noBytes, "getattr": getAttr, "zip": zip,
}

// chargedFuncs are Starlark's own behind a charge.
var chargedFuncs = map[string]builtinFunc{
	"bool": charged(nil), "chr": charged(nil), "dir": charged(nil), "hasattr": charged(nil), "len": charged(nil), "type": charged(nil),
	"hash": charged(letters), "ord": charged(letters), "enumerate": charged(taken(sizePair)), "list": charged(taken(sizeGrown)),
	"tuple": charged(taken(sizeGrown)), "reversed": charged(taken(sizeGrown)), "set": charged(setOf), "dict": charged(dictOf),
}

// charged makes a function of Starlark's that is paid by its first argument.
func charged(cost func(m *machine, v starlark.Value) error) builtinFunc {
	return func(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := m.make(sizeBox + len(kwargs)*sizeEntry); err != nil {
			return nil, err
		}
		if cost != nil {
			var v starlark.Value = starlark.Tuple{}
			if len(args) > 0 {
				v = args[0]
			}
			if err := cost(m, v); err != nil {
				return nil, err
			}
		}
		return starlark.Call(m.thread, starlark.Universe[b.Name()], args, kwargs)
	}
}

func letters(m *machine, v starlark.Value) error {
	n, _ := text(v)
	return m.scan(n)
}

// taken charges for a new element of so many bytes for each of v.
func taken(size int) func(*machine, starlark.Value) error {
	return func(m *machine, v starlark.Value) error {
		items, ok := v.(starlark.Iterable)
		if !ok {
			return nil
		}
		n, err := m.count(items)
		if err != nil {
			return err
		}
		if n > maxElements {
			return errTooLarge
		}
		if err := m.spend(uint64(n)); err != nil {
			return err
		}
		return m.make(n * size)
	}
}

func setOf(m *machine, v starlark.Value) error {
	if err := m.make(sizeTable); err != nil {
		return err
	}
	if items, ok := v.(starlark.Iterable); ok {
		return m.elements(items, m.entry)
	}
	return nil
}

func dictOf(m *machine, v starlark.Value) error {
	if err := m.make(sizeTable); err != nil {
		return err
	}
	return updated(m, nil, starlark.Tuple{v})
}

// anyOf is any (for true) or all (for false): it stops at the first element of that truth.
func anyOf(stop bool) builtinFunc {
	return func(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var items starlark.Iterable
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &items); err != nil {
			return nil, err
		}
		for v := range starlark.Elements(items) {
			if err := m.spend(1); err != nil {
				return nil, err
			}
			if bool(v.Truth()) == stop {
				return starlark.Bool(stop), nil
			}
		}
		return starlark.Bool(!stop), nil
	}
}

// extremum is min or max: of one iterable, or of several arguments.
func extremum(op syntax.Token) builtinFunc {
	return func(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var key starlark.Callable
		var best, bestKey, absent starlark.Value
		if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "key??", &key, "default?", &absent); err != nil {
			return nil, err
		}
		var items starlark.Iterable = args
		if len(args) == 1 {
			var ok bool
			if items, ok = args[0].(starlark.Iterable); !ok {
				return nil, fmt.Errorf("%s: got %s, want several values or an iterable", b.Name(), args[0].Type())
			}
		}
		err := m.elements(items, func(v starlark.Value) error {
			k, err := m.keyOf(key, v)
			if err != nil {
				return err
			}
			if best != nil {
				if better, err := m.compare(op, k, bestKey); err != nil || !better {
					return err
				}
			}
			best, bestKey = v, k
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case best != nil:
			return best, nil
		case absent != nil:
			return absent, nil
		}
		return nil, fmt.Errorf("%s: got nothing to choose from", b.Name())
	}
}

// keyOf is key(v), or v where there is no key.
func (m *machine) keyOf(key starlark.Callable, v starlark.Value) (starlark.Value, error) {
	if key == nil {
		return v, nil
	}
	return starlark.Call(m.thread, key, starlark.Tuple{v}, nil)
}

// sorted charges all comparisons at once, each of them by the sizes of the elements.
func sorted(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	var key starlark.Callable
	reverse := false
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &items, "key??", &key, "reverse?", &reverse); err != nil {
		return nil, err
	}
	type item struct{ value, key starlark.Value }
	var all []item
	total := uint64(0)
	err := m.elements(items, func(v starlark.Value) error {
		if err := m.make(2 * sizeGrown); err != nil {
			return err
		}
		k, err := m.keyOf(key, v)
		if err != nil {
			return err
		}
		if isNumber(k) {
			total += 1 + m.numberCost(k)
		} else {
			s := m.sizeOf(k, m.left()+1)
			if total += 2 * s.n; s.tables {
				total += mixedCost * s.n
			}
		}
		if total > m.left() {
			return m.spend(total)
		}
		all = append(all, item{v, k})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := m.spendProduct(total, uint64(bits.Len(uint(len(all))))); err != nil {
		return nil, err
	}
	var wrong error
	sort.SliceStable(all, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		if wrong != nil {
			return false
		}
		less, err := compareValues(syntax.LT, all[i].key, all[j].key, 0)
		wrong = err
		return less
	})
	if wrong != nil {
		return nil, wrong
	}
	out := make([]starlark.Value, len(all))
	for i, x := range all {
		out[i] = x.value
	}
	return starlark.NewList(out), nil
}

func fail(m *machine, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	const most = 200
	var words strings.Builder
	for _, v := range args {
		s, err := m.str(v)
		if err != nil {
			return nil, err
		}
		words.WriteString(" " + s[:min(len(s), most)])
		if words.Len() > most {
			break
		}
	}
	return nil, errors.New("fail:" + words.String())
}

func noBytes(*machine, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return nil, errors.New("bytes are not available in the calculator")
}

func getAttr(m *machine, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, absent starlark.Value
	var name string
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &x, &name, &absent); err != nil {
		return nil, err
	}
	v, err := attr(m, x, name)
	if err != nil && absent != nil && m.left() > 0 && !errors.Is(err, errMemory) {
		return absent, nil
	}
	return v, err
}

func zip(m *machine, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	rows := -1
	for _, v := range args {
		items, ok := v.(starlark.Iterable)
		if !ok {
			return nil, fmt.Errorf("zip: got %s, want iterables", v.Type())
		}
		n, err := m.count(items)
		if err != nil {
			return nil, err
		}
		if rows < 0 || n < rows {
			rows = n
		}
	}
	if rows = max(rows, 0); rows > maxElements {
		return nil, errTooLarge
	}
	if err := m.spendProduct(uint64(rows), uint64(len(args)+1)); err != nil {
		return nil, err
	}
	if err := m.make(rows * (sizeBox + len(args)*sizePointer)); err != nil {
		return nil, err
	}
	return starlark.Call(m.thread, starlark.Universe["zip"], args, kwargs)
}
