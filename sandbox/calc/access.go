package calc

import (
	"errors"
	"fmt"
	"math"

	"go.starlark.net/starlark"
)

// index is x[y].
func index(m *machine, x, y starlark.Value) (starlark.Value, error) {
	switch x := x.(type) {
	case *starlark.Dict:
		if err := m.key(y); err != nil {
			return nil, err
		}
		v, found, err := x.Get(y)
		if err == nil && !found {
			err = fmt.Errorf("key %w", m.missing(y))
		}
		return v, err
	case starlark.Indexable:
		i, err := position(x, y)
		if err != nil {
			return nil, err
		}
		return x.Index(i), nil
	}
	return nil, fmt.Errorf("%s has no elements to index", x.Type())
}

// missing is the error for a key that is not there.
func (m *machine) missing(key starlark.Value) error {
	s, err := m.repr(key)
	switch {
	case err != nil:
		return errors.New("is not in the dict")
	case len(s) > 100:
		s = s[:100] + "…"
	}
	return fmt.Errorf("%s is not in the dict", s)
}

// position checks an index, which may count from the end.
func position(x starlark.Indexable, y starlark.Value) (int, error) {
	number, ok := boolToInt(y).(starlark.Int)
	if !ok {
		return 0, fmt.Errorf("%s index: got %s, want int", x.Type(), y.Type())
	}
	n := int64(x.Len())
	i, ok := number.Int64()
	if ok && i < 0 {
		i += n
	}
	if !ok || i < 0 || i >= n {
		return 0, fmt.Errorf("%s index out of range", x.Type())
	}
	return int(i), nil
}

// setIndex is x[y] = v.
func setIndex(m *machine, x, y, v starlark.Value) error {
	switch x := x.(type) {
	case *starlark.Dict:
		if err := m.entry(y); err != nil {
			return err
		}
		return x.SetKey(y, v)
	case *starlark.List:
		i, err := position(x, y)
		if err != nil {
			return err
		}
		return x.SetIndex(i, v)
	}
	return fmt.Errorf("%s does not support item assignment", x.Type())
}

// slice is x[low:high:step].
func slice(m *machine, x, low, high, step starlark.Value) (starlark.Value, error) {
	s, ok := x.(starlark.Sliceable)
	if !ok {
		return nil, fmt.Errorf("%s has no elements to slice", x.Type())
	}
	n := s.Len()
	by := 1
	if step != starlark.None {
		i, err := sliceNumber(step)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			return nil, errors.New("the step of a slice is zero")
		}
		by = i
	}
	start, end, least, most := 0, n, 0, n
	if by < 0 {
		start, end, least, most = n-1, -1, -1, n-1
	}
	for _, part := range []struct {
		value starlark.Value
		into  *int
	}{{low, &start}, {high, &end}} {
		if part.value == starlark.None {
			continue
		}
		i, err := sliceNumber(part.value)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			i += n
		}
		*part.into = max(least, min(most, i))
	}
	size := 0
	if by > 0 {
		end = max(start, end)
		size = (end-start-1)/by + 1
	} else {
		start = max(start, end)
		size = (start-end-1)/-by + 1
	}
	if _, isText := text(x); isText {
		if by != 1 { // else it shares the letters
			if err := m.spend(uint64(size)); err != nil {
				return nil, err
			}
		}
		size /= sizePointer
	}
	if err := m.make(sizeBox + size*sizePointer); err != nil {
		return nil, err
	}
	return s.Slice(start, end, by), nil
}

// sliceNumber is an index of a slice, cut to what no sequence reaches.
func sliceNumber(v starlark.Value) (int, error) {
	const far = math.MaxInt32
	number, ok := boolToInt(v).(starlark.Int)
	if !ok {
		return 0, fmt.Errorf("slice index: got %s, want int", v.Type())
	}
	i, ok := number.Int64()
	if !ok {
		i = int64(number.Sign()) * far
	}
	return int(max(-far, min(far, i))), nil
}

// attr is x.name.
func attr(m *machine, x starlark.Value, name string) (starlark.Value, error) {
	costs, ok := methodCosts[x.Type()]
	if _, known := costs[name]; !ok || !known {
		v, err := starlark.Call(m.thread, starlark.Universe["getattr"], starlark.Tuple{x, starlark.String(name)}, nil)
		var run *starlark.EvalError
		if errors.As(err, &run) {
			err = fmt.Errorf("%s has no .%s", x.Type(), name)
		}
		return v, err
	}
	if err := m.make(3 * sizeBox); err != nil {
		return nil, err
	}
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return m.method(x, name, args, kwargs)
	}), nil
}

// method is x.name(args).
func (m *machine) method(x starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	cost, ok := methodCosts[x.Type()][name]
	if !ok {
		f, err := attr(m, x, name)
		if err != nil {
			return nil, err
		}
		return starlark.Call(m.thread, f, args, kwargs)
	}
	if err := cost(m, x, args); err != nil {
		return nil, err
	}
	if err := m.make(len(kwargs) * sizeEntry); err != nil { // of dict.update
		return nil, err
	}
	f, err := x.(starlark.HasAttrs).Attr(name)
	if err != nil {
		return nil, err
	}
	return starlark.Call(m.thread, f, args, kwargs)
}

// spread charges for *v or **v in a call.
func spread(m *machine, v starlark.Value) error {
	switch v := v.(type) {
	case *starlark.Dict:
		const most = 255 // as many names as a call can spell out
		if v.Len() > most {
			return fmt.Errorf("a call takes at most %d named arguments", most)
		}
		if err := m.spend(8 * uint64(v.Len())); err != nil {
			return err
		}
		return m.make(v.Len() * sizePair)
	case starlark.Iterable:
		n, err := m.count(v)
		if err != nil {
			return err
		}
		if n > maxElements {
			return errTooLarge
		}
		if err := m.spend(uint64(n)); err != nil {
			return err
		}
		return m.make(n * sizeGrown)
	}
	return nil
}

// newDict is {k: v, …}: as in Python the last value of a key counts.
func newDict(m *machine, pairs starlark.Tuple) (starlark.Value, error) {
	if err := m.make(sizeTable); err != nil {
		return nil, err
	}
	d := new(starlark.Dict)
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := m.entry(pairs[i]); err != nil {
			return nil, err
		}
		if err := d.SetKey(pairs[i], pairs[i+1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}
