package audit

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// usual says whether a number is one that programs hold anyway: small, round, a power of two or a small multiple of one, or a usual unit.
func usual(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "-"), " ")
	whole, decimals, _ := strings.Cut(text, ".")
	if len(decimals) > 0 {
		return len(strings.TrimLeft(whole, "0"))+len(decimals) <= 3 // 0.25, 1.5
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return false
	}
	if n <= 12 || units[n] {
		return true
	}
	m := n
	for m%10 == 0 {
		m /= 10
	}
	if m != n && m <= 99 || m <= 9 {
		return true // 350, 4000
	}
	for _, near := range []int64{n, n + 1, n - 1} { // 255, 1025
		m, k := near, 0
		for ; m > 0 && m%2 == 0; m /= 2 {
			k++
		}
		if m <= 3 && k >= 3 || m == 1 && k >= 3 {
			if near == n || m == 1 {
				return true
			}
		}
	}
	return false
}

// units are numbers of calendars, clocks, measures and codes.
var units = map[int64]bool{
	15: true, 18: true, 24: true, 25: true, 28: true, 29: true, 30: true, 31: true, 36: true, 45: true, 48: true, 52: true, 60: true, 64: true, 75: true,
	90: true, 99: true, 100: true, 127: true, 128: true, 144: true, 180: true, 270: true, 360: true, 365: true, 366: true, 999: true, 1001: true, 1024: true, 1440: true,
	1760: true, 3600: true, 5280: true, 9999: true, 86400: true, 604800: true,
}

// regular says whether numbers in their order follow a simple law: equal steps or steps of steps, equal ratios, primes, sums of the two
// before. Such a list can be written without knowing anything.
func regular(list []*big.Int) bool {
	if len(list) < 5 {
		return false
	}
	row := list
	for range 3 {
		next := make([]*big.Int, 0, len(row))
		for i := 1; i < len(row); i++ {
			next = append(next, new(big.Int).Sub(row[i], row[i-1]))
		}
		if len(next) < 3 {
			break
		}
		if !slices.ContainsFunc(next, func(d *big.Int) bool { return d.Cmp(next[0]) != 0 }) {
			return true
		}
		row = next
	}
	ratio, sums := true, true
	for i := 2; i < len(list); i++ {
		left, right := new(big.Int).Mul(list[i], list[i-2]), new(big.Int).Mul(list[i-1], list[i-1])
		ratio = ratio && left.Cmp(right) == 0
		sums = sums && new(big.Int).Add(list[i-2], list[i-1]).Cmp(list[i]) == 0
	}
	return ratio || sums || primes(list)
}

// primes says whether a list is primes, each the next one.
func primes(list []*big.Int) bool {
	for i, n := range list {
		if !n.IsInt64() || n.Int64() > 10_000 || !n.ProbablyPrime(0) {
			return false
		}
		if i == 0 {
			continue
		}
		for m := list[i-1].Int64() + 1; m < n.Int64(); m++ {
			if big.NewInt(m).ProbablyPrime(0) {
				return false
			}
		}
		if n.Cmp(list[i-1]) <= 0 {
			return false
		}
	}
	return true
}

// ordinary says whether a word is one that answers, names and branches may be by accident.
func ordinary(word string) bool { return len(word) < 2 || ordinaryWords()[word] }

// ordinaryWords are words of tasks and of everyday answers.
var ordinaryWords = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`
		yes no true false none null unknown both neither all any other same different more less higher lower greater smaller equal first second third last
		left right up down north south east west white black red blue green yellow odd even positive negative zero one two three four five six seven
		eight nine ten eleven twelve hundred thousand million dozen half double twice draw win loss lose check mate stalemate king queen rook bishop knight pawn
		man woman men women boy girl he she it they monday tuesday wednesday thursday friday saturday sunday january february march april may june
		july august september october november december spring summer autumn fall winter day week month year hour minute second time date
		the a an of in on at to and or not is are was were be by for with from as that this these those who what when where which why how
		question answer answers final result problem problems solution task tasks example examples number numbers word words text name names letter letters
		tool tools calculator search query page document passage title source sources evidence board move moves game player side square
		math mathematics maths arithmetic algebra geometry logic science history chess code coding program programs python json list table set value values
		data dataset datasets train training test testing tests validation dev eval evaluation benchmark generated generator custom file files local default
		qa quiz trivia general knowledge web wiki wikipedia open book closed reading reasoning language english person people place city country river film
		movie song band album novel author writer actor singer company team football step steps plan reply model agent harness user assistant system
		quick smoke tiny small large main mini full easy medium hard word`) {
		out[w] = true
	}
	return out
})

// numberWord says whether a text is a number in words: what stands for it is no answer.
func numberWord(s string) bool {
	ts := tokens(s, 8)
	for _, t := range ts {
		if !numberWords()[t.text] && !t.op {
			return false
		}
	}
	return len(ts) > 0
}

var numberWords = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
		seventeen eighteen nineteen twenty thirty forty fourty fifty sixty seventy eighty ninety hundred thousand million billion and a dozen half
		quarter third couple pair score once twice thrice double triple first second fourth fifth sixth seventh eighth ninth tenth`) {
		out[w] = true
	}
	return out
})
