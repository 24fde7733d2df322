package calc

import (
	"errors"
	"math"

	"go.starlark.net/starlark"
)

// Bounds of what one program may make. They are far above what a calculation needs and far below what hurts.
const (
	maxBits      = 1 << 18  // of an integer: 79,000 digits
	maxElements  = 1 << 20  // of a string (bytes), list or tuple
	maxAllocated = 48 << 20 // bytes of all that operators and builtins make, kept or not
	maxFrames    = 16 << 20 // bytes of the stack of calls, see enter
)

// The prices of work in interpreter steps. The interpreter itself takes 20 to 60 ns a step.
const (
	bytesPerStep   = 64  // copied or compared
	lettersPerStep = 8   // looked at one by one
	madePerStep    = 128 // bytes of new values, with what collecting them takes
)

var (
	errSteps    = errors.New("too many steps")
	errMemory   = errors.New("the program needs too much memory")
	errTooLarge = errors.New("the result is too large")
)

// machine is the state of one evaluation: its output and what it has used up.
//
// The interpreter counts its own instructions, each of which takes a bounded time and at most some 32 bytes. Whatever can cost more
// goes through rewrite's calls and the builtins here, and these pay with spend and make before they work, by the sizes
// of their operands. So a program's verdict depends on the program alone: neither the load of the machine nor the garbage
// collector has a say in it.
type machine struct {
	out    output
	thread *starlark.Thread
	limit  uint64 // of steps
	made   int64  // bytes
	depth  int    // of calls
	keys   map[uint32]*crowd
}

// left is how many steps remain.
func (m *machine) left() uint64 {
	if m.thread.Steps >= m.limit {
		return 0
	}
	return m.limit - m.thread.Steps
}

// spend charges steps.
func (m *machine) spend(steps uint64) error {
	if steps >= m.left() {
		m.thread.Steps = m.limit
		return errSteps
	}
	m.thread.Steps += steps
	return nil
}

// spendProduct charges the product of sizes that may be huge.
func (m *machine) spendProduct(a, b uint64) error {
	if a != 0 && b > math.MaxUint64/a {
		return m.spend(math.MaxUint64)
	}
	return m.spend(a * b)
}

// make charges for a new value of n bytes, and for what it takes to fill it.
func (m *machine) make(n int) error {
	if n < 0 || int64(n) > maxAllocated-m.made {
		m.made = maxAllocated
		return errMemory
	}
	m.made += int64(n)
	return m.spend(uint64(n) / madePerStep)
}

// Bytes of values.
const (
	sizePointer = 16  // an element of a list or tuple
	sizeGrown   = 40  // an element appended, with what the list has in reserve and copies when it grows
	sizePair    = 96  // a tuple of two in a list
	sizeBox     = 64  // a small object
	sizeTable   = 512 // an empty dict or set
	sizeEntry   = 160 // of a dict or set
)

// text returns how many bytes a string or bytes value has.
func text(v starlark.Value) (n int, ok bool) {
	switch v := v.(type) {
	case starlark.String:
		return len(v), true
	case starlark.Bytes:
		return len(v), true
	}
	return 0, false
}

// scan charges for looking at every letter of n bytes.
func (m *machine) scan(n int) error { return m.spend(uint64(n) / lettersPerStep) }

// elements calls f for each element of v, at a step each.
func (m *machine) elements(v starlark.Iterable, f func(starlark.Value) error) error {
	for x := range starlark.Elements(v) {
		if err := m.spend(1); err != nil {
			return err
		}
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// count returns how many elements v has. Where v does not know it, it takes a step each to find out.
func (m *machine) count(v starlark.Iterable) (int, error) {
	if n := starlark.Len(v); n >= 0 {
		return n, nil
	}
	n := 0
	err := m.elements(v, func(starlark.Value) error { n++; return nil })
	return n, err
}
