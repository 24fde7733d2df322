package calc

import (
	"errors"

	"go.starlark.net/starlark"
)

var errDeep = errors.New("the value is nested too deeply")

// size is what it takes to walk a value: to hash, compare or copy it. A value that is inside another several times counts as
// often, as nobody who walks it notices.
type size struct {
	limit  uint64 // where walking ends
	n      uint64
	ints   bool
	floats bool
	tables bool // there are dicts or sets
	deep   bool // nested more than maxDepth
}

// add walks v. It does not take more steps than the limit.
func (s *size) add(m *machine, v starlark.Value, depth int) {
	if s.n >= s.limit {
		return
	}
	s.n++
	if depth > maxDepth {
		s.deep = true
		return
	}
	switch v := v.(type) {
	case starlark.Int:
		s.ints = true
		if _, ok := v.Int64(); !ok {
			s.n += words(bitLen(v)) / 8
		}
	case starlark.Float:
		s.floats = true
	case starlark.String:
		s.n += uint64(len(v)) / bytesPerStep
	case starlark.Bytes:
		s.n += uint64(len(v)) / bytesPerStep
	case starlark.Tuple:
		for _, x := range v {
			if s.add(m, x, depth+1); s.n >= s.limit {
				return
			}
		}
	case *starlark.List:
		for i := range v.Len() {
			if s.add(m, v.Index(i), depth+1); s.n >= s.limit {
				return
			}
		}
	case *starlark.Set:
		s.tables = true
		for x := range starlark.Elements(v) {
			s.n += 2 + m.crowdOf(x)
			if s.add(m, x, depth+1); s.n >= s.limit {
				return
			}
		}
	case *starlark.Dict:
		s.tables = true
		for k, x := range starlark.Entries(v) {
			s.n += 2 + m.crowdOf(k)
			s.add(m, k, depth+1)
			if s.add(m, x, depth+1); s.n >= s.limit {
				return
			}
		}
	}
}

func (m *machine) sizeOf(v starlark.Value, limit uint64) size {
	s := size{limit: limit}
	s.add(m, v, 0)
	return s
}

// smaller returns the size of the smaller of two values, and whether both hold dicts or sets. It takes time in proportion to the
// smaller one.
func (m *machine) smaller(x, y starlark.Value) (n uint64, tables bool) {
	limit := uint64(64)
	for {
		limit = min(limit, m.left()+1)
		a, b := m.sizeOf(x, limit), m.sizeOf(y, limit)
		n := min(a.n, b.n)
		if n < limit || limit > m.left() {
			return n, a.tables && b.tables
		}
		limit *= 4
	}
}

// crowd is the keys of one hash. Keys of the same hash lie in one chain of a table, which every access walks; programs can
// make them at will (all floats between 0 and 1 have one hash).
type crowd struct {
	last         starlark.Value
	n            uint64 // how often another key came than the one before
	ints, floats bool
}

// cost is that of walking the chain once.
func (c *crowd) cost() uint64 {
	if c.ints && c.floats {
		return c.n * mixedCost
	}
	return c.n / 2
}

// crowdOf returns the cost of the chain that v would be in.
func (m *machine) crowdOf(v starlark.Value) uint64 {
	if len(m.keys) == 0 {
		return 0
	}
	if _, isText := text(v); isText {
		return 0
	}
	if _, isInt := v.(starlark.Int); !isInt {
		if s := m.sizeOf(v, 1<<10); s.n >= s.limit || s.deep {
			return s.n
		}
	}
	h, err := v.Hash()
	if c := m.keys[h]; err == nil && c != nil {
		return c.cost()
	}
	return 0
}

// key charges for an access to a dict or set. Keys that cannot be hashed are left to the table to complain about.
func (m *machine) key(v starlark.Value) error {
	var s size
	switch k := v.(type) {
	case starlark.Int:
		s.ints = true
		if i, ok := k.Int64(); ok && i == int64(int32(i)) && len(m.keys) == 0 {
			return nil // among themselves these never meet
		}
	case starlark.Bool, starlark.NoneType:
		return nil
	case starlark.String:
		if err := m.spend(uint64(len(k)) / bytesPerStep); err != nil {
			return err
		}
		const seeded = 12 // the hash of strings from here on cannot be foreseen
		if len(k) >= seeded {
			return nil
		}
	default:
		s = m.sizeOf(v, m.left())
		if err := m.spend(2 * s.n); err != nil {
			return err
		}
		if s.deep {
			return errDeep
		}
	}
	h, err := v.Hash()
	if err != nil {
		return nil
	}
	c := m.keys[h]
	if c == nil {
		if i, ok := v.(starlark.Int); ok {
			if i, ok := i.Int64(); ok && i == int64(int32(i)) {
				return nil
			}
		}
		if m.keys == nil {
			m.keys = map[uint32]*crowd{}
		}
		m.keys[h] = &crowd{last: v, ints: s.ints, floats: s.floats}
		return m.make(sizeEntry)
	}
	c.ints, c.floats = c.ints || s.ints, c.floats || s.floats
	if same, err := starlark.Equal(c.last, v); err != nil || !same {
		c.n, c.last = c.n+1, v
	}
	return m.spend(c.cost())
}

// entry charges for a new entry of a dict or set.
func (m *machine) entry(key starlark.Value) error {
	if err := m.make(sizeEntry); err != nil {
		return err
	}
	return m.key(key)
}
