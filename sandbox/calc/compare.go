package calc

import (
	"cmp"
	"math"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// comparisons are the operators that compare, under the names that rewrite gives them.
var comparisons = map[string]syntax.Token{
	"__eq__": syntax.EQL, "__ne__": syntax.NEQ, "__lt__": syntax.LT, "__le__": syntax.LE, "__gt__": syntax.GT, "__ge__": syntax.GE,
}

// compare is x op y.
func (m *machine) compare(op syntax.Token, x, y starlark.Value) (bool, error) {
	var cost uint64
	if isNumber(x) && isNumber(y) {
		cost = m.numberCost(x) + m.numberCost(y)
	} else {
		n, tables := m.smaller(x, y)
		switch {
		case tables:
			cost = n * mixedCost // of integers with floats: the table does not use compareNumbers
		case n > 1:
			cost = 2 * n
		}
	}
	if err := m.spend(cost); err != nil {
		return false, err
	}
	return compareValues(op, x, y, 0)
}

// numberCost is what a large integer takes to compare.
func (m *machine) numberCost(v starlark.Value) uint64 {
	if i, ok := v.(starlark.Int); ok {
		return words(bitLen(i)) / 8
	}
	return 0
}

// compareValues is compare for what is paid already.
func compareValues(op syntax.Token, x, y starlark.Value, depth int) (bool, error) {
	if depth > maxDepth {
		return false, errDeep
	}
	if isNumber(x) && isNumber(y) {
		return compareNumbers(op, boolToInt(x), boolToInt(y)), nil
	}
	switch a := x.(type) {
	case *starlark.List:
		if b, ok := y.(*starlark.List); ok {
			return compareSequences(op, a, b, depth)
		}
	case starlark.Tuple:
		if b, ok := y.(starlark.Tuple); ok {
			return compareSequences(op, a, b, depth)
		}
	}
	ok, err := starlark.Compare(op, x, y)
	if err != nil && x.Type() != y.Type() {
		err = unknown(op.String(), x, y)
	}
	return ok, err
}

// compareSequences compares the first elements that differ, or else the lengths.
func compareSequences(op syntax.Token, x, y starlark.Indexable, depth int) (bool, error) {
	n, k := x.Len(), y.Len()
	if n != k && (op == syntax.EQL || op == syntax.NEQ) {
		return op == syntax.NEQ, nil
	}
	for i := range min(n, k) {
		a, b := x.Index(i), y.Index(i)
		if list, ok := a.(*starlark.List); ok && b == starlark.Value(list) {
			continue
		}
		same, err := compareValues(syntax.EQL, a, b, depth+1)
		switch {
		case err != nil:
			return false, err
		case same:
		case op == syntax.EQL || op == syntax.NEQ:
			return op == syntax.NEQ, nil
		default:
			return compareValues(op, a, b, depth+1)
		}
	}
	return holds(op, cmp.Compare(n, k)), nil
}

// holds tells whether op holds for operands that compare like this.
func holds(op syntax.Token, order int) bool {
	switch op {
	case syntax.EQL:
		return order == 0
	case syntax.NEQ:
		return order != 0
	case syntax.LT:
		return order < 0
	case syntax.LE:
		return order <= 0
	case syntax.GT:
		return order > 0
	}
	return order >= 0
}

// compareNumbers compares exactly, as Python does; no number compares with anything but as unequal.
func compareNumbers(op syntax.Token, x, y starlark.Value) bool {
	f, isFloat := x.(starlark.Float)
	g, isFloat2 := y.(starlark.Float)
	switch {
	case math.IsNaN(float64(f)) || math.IsNaN(float64(g)):
		return op == syntax.NEQ
	case isFloat && isFloat2:
		return holds(op, cmp.Compare(f, g))
	case isFloat:
		return holds(op, -compareIntFloat(y.(starlark.Int), float64(f)))
	case isFloat2:
		return holds(op, compareIntFloat(x.(starlark.Int), float64(g)))
	}
	i, j := x.(starlark.Int), y.(starlark.Int)
	if a, ok := i.Int64(); ok {
		if b, ok := j.Int64(); ok {
			return holds(op, cmp.Compare(a, b))
		}
	}
	return holds(op, i.BigInt().Cmp(j.BigInt()))
}

// compareIntFloat compares an integer with a float that is a number.
func compareIntFloat(i starlark.Int, f float64) int {
	const exact = 1 << 53 // up to which floats hold all integers
	if v, ok := i.Int64(); ok && -exact <= v && v <= exact {
		return cmp.Compare(float64(v), f)
	}
	const largest = 1024 // bits of the largest float
	if math.Abs(f) < exact || bitLen(i) > largest || math.IsInf(f, 0) {
		if math.IsInf(f, 0) {
			return -int(math.Copysign(1, f))
		}
		return i.Sign()
	}
	whole, _ := big.NewFloat(f).Int(nil)
	return i.BigInt().Cmp(whole)
}

// contains is `x in y`.
func contains(m *machine, x, y starlark.Value) (starlark.Value, error) {
	found := false
	switch y := y.(type) {
	case starlark.String, starlark.Bytes:
		n, _ := text(y)
		k, _ := text(x)
		if err := m.scan(n + k); err != nil {
			return nil, err
		}
		return starlark.Binary(syntax.IN, x, y)
	case *starlark.List, starlark.Tuple:
		i, err := m.find(y.(starlark.Indexable), x, 0)
		return starlark.Bool(i >= 0), err
	case *starlark.Dict:
		if err := m.key(x); err != nil {
			return nil, err
		}
		var err error
		_, found, err = y.Get(x)
		return starlark.Bool(found), err
	case *starlark.Set:
		if err := m.key(x); err != nil {
			return nil, err
		}
		found, err := y.Has(x)
		return starlark.Bool(found), err
	}
	if y.Type() == "range" {
		x = boolToInt(x)
		if f, ok := x.(starlark.Float); ok {
			whole, err := floatToInt(float64(f))
			if err != nil || float64(f) != math.Trunc(float64(f)) {
				return starlark.False, nil
			}
			x = whole
		}
		if _, ok := x.(starlark.Int); !ok {
			return starlark.False, nil
		}
	}
	v, err := starlark.Binary(syntax.IN, x, y)
	if err != nil {
		return nil, unknown("in", x, y)
	}
	return v, nil
}

func containsNot(m *machine, x, y starlark.Value) (starlark.Value, error) {
	v, err := contains(m, x, y)
	if err != nil {
		return nil, err
	}
	return !v.Truth(), nil
}

// find returns the first place of x in list from the given one on, or -1.
func (m *machine) find(list starlark.Indexable, x starlark.Value, from int) (int, error) {
	for i := from; i < list.Len(); i++ {
		if err := m.spend(1); err != nil {
			return 0, err
		}
		if same, err := m.compare(syntax.EQL, list.Index(i), x); err != nil || same {
			return i, err
		}
	}
	return -1, nil
}
