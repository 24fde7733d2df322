package math

import (
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
	"pgregory.net/rapid"
)

// evaluate computes an expression by Go's own constant arithmetic, which shares no code with the generator.
func evaluate(t interface{ Fatalf(string, ...any) }, expression string) int64 {
	tv, err := types.Eval(token.NewFileSet(), nil, token.NoPos, strings.ReplaceAll(expression, "//", "/"))
	if err != nil {
		t.Fatalf("expression %q: %v", expression, err)
	}
	n, exact := constant.Int64Val(tv.Value)
	if !exact {
		t.Fatalf("expression %q: got %v, want an int64", expression, tv.Value)
	}
	return n
}

var (
	digits     = regexp.MustCompile(`\d+`)
	arithmetic = regexp.MustCompile(`^What is ([0-9()+*/ -]+)\?$`)
)

func pretrain(t *testing.T, o GeneratorOptions, n int) []Problem {
	t.Helper()
	g, err := NewGenerator(o)
	if err != nil {
		t.Fatal(err)
	}
	problems, err := g.Pretrain(n)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func TestAnswersByIndependentEvaluation(t *testing.T) {
	templates := make(map[string]int)
	for _, p := range pretrain(t, DefaultGeneratorOptions(), 4000) {
		templates[p.Template]++
		if got := evaluate(t, p.Expression()); got != p.Answer {
			t.Fatalf("%q: %s: got answer %d, want %d", p.Text, p.Expression(), p.Answer, got)
		}
		results, err := p.Results()
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range p.Expressions() {
			if got := evaluate(t, e); got != results[i] || got < 0 || got > 99_999 {
				t.Fatalf("%q: step %s: got %d, want %d, 0 to 99999", p.Text, e, results[i], got)
			}
		}
		if last := results[len(results)-1]; last != p.Answer {
			t.Fatalf("%q: got answer %d, want the last result %d", p.Text, p.Answer, last)
		}
		if m := arithmetic.FindStringSubmatch(p.Text); m != nil {
			if got := evaluate(t, m[1]); got != p.Answer {
				t.Fatalf("%q: got answer %d, want %d", p.Text, p.Answer, got)
			}
		}
		inText := digits.FindAllString(p.Text, -1)
		var inSteps []string
		for _, s := range p.Steps {
			for _, o := range []Operand{s.A, s.B} {
				if !o.Prev {
					inSteps = append(inSteps, strconv.FormatInt(o.Value, 10))
				}
			}
		}
		slices.Sort(inText)
		slices.Sort(inSteps)
		if !slices.Equal(inText, inSteps) {
			t.Fatalf("%q: got the numbers %v in the steps, want %v", p.Text, inSteps, inText)
		}
		for _, n := range inText {
			if len(n) > 3 || n == "0" || n == "1" {
				t.Fatalf("%q: got number %s, want 2 to 999", p.Text, n)
			}
		}
		if words := len(strings.Fields(p.Text)); words > 35 {
			t.Fatalf("%q: got %d words, want at most 35", p.Text, words)
		}
		if strings.ContainsAny(p.Text, "{}") || strings.ContainsFunc(p.Text, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q: got a placeholder or a character beyond ASCII", p.Text)
		}
		if want := map[int]string{1: KindOneStep, 2: KindTwoStep}[len(p.Steps)]; p.Kind != want {
			t.Fatalf("%q: got kind %s, want %s", p.Text, p.Kind, want)
		}
	}
	if got, want := len(templates), len(oneStep())+len(twoStep()); got != want {
		t.Errorf("templates in use: got %d, want all %d", got, want)
	}
}

func TestTemplates(t *testing.T) {
	if one, two := len(oneStep()), len(twoStep()); one < 30 || two < 25 {
		t.Errorf("templates: got %d one-step and %d two-step, want 30 and 25", one, two)
	}
	seen := make(map[string]bool)
	for _, c := range append(oneStep(), twoStep()...) {
		if seen[c.id] {
			t.Errorf("template %s: got it twice", c.id)
		}
		seen[c.id] = true
		s, err := c.parse()
		if err != nil {
			t.Error(err)
		}
		if s.second == OpDiv && s.flipped {
			t.Errorf("template %s: divides by a result, which the draw does not make exact", c.id)
		}
		for _, n := range []string{"{a}", "{b}", "{c}"} {
			want := 1
			if n == "{c}" && c.kind() == KindOneStep {
				want = 0
			}
			if got := strings.Count(c.text, n); got != want {
				t.Errorf("template %s: got %s %d times, want %d", c.id, n, got, want)
			}
		}
	}
	for _, bad := range []string{"", "a%b", "(a+b)^c", "c*(a?b)", "a+b+c", "(a+b)*d"} {
		if _, err := (template{id: "bad", formula: bad}).parse(); err == nil {
			t.Errorf("formula %q: got no error", bad)
		}
	}
}

func TestExpressions(t *testing.T) {
	number := func(n int64) Operand { return Operand{Value: n} }
	prev := Operand{Prev: true}
	for _, c := range []struct {
		steps []Step
		each  []string
		whole string
	}{
		{[]Step{{OpAdd, number(347), number(58)}}, []string{"347+58"}, "347+58"},
		{[]Step{{OpAdd, number(347), number(58)}, {OpMul, prev, number(3)}}, []string{"347+58", "405*3"}, "(347+58)*3"},
		{[]Step{{OpMul, number(12), number(7)}, {OpSub, number(500), prev}}, []string{"12*7", "500-84"}, "500-(12*7)"},
		{[]Step{{OpSub, number(9), number(3)}, {OpDiv, prev, number(2)}}, []string{"9-3", "6//2"}, "(9-3)//2"},
	} {
		p := Problem{Steps: c.steps}
		if got := p.Expressions(); !slices.Equal(got, c.each) {
			t.Errorf("got steps %q, want %q", got, c.each)
		}
		if got := p.Expression(); got != c.whole {
			t.Errorf("got %q, want %q", got, c.whole)
		}
	}
	if _, err := (Problem{Steps: []Step{{OpDiv, number(7), number(2)}}}).Results(); err == nil {
		t.Error("7//2: got no error, want one for the rest")
	}
}

// Splits cannot overlap: not within a seed, not between seeds, not between settings.
func TestSplitsNeverOverlap(t *testing.T) {
	owner := make(map[string]string) // by normalised text, over every draw of the property
	rapid.Check(t, func(t *rapid.T) {
		o := GeneratorOptions{
			Seed:      rapid.Uint64().Draw(t, "seed"),
			TwoStep:   rapid.Float64Range(0, 1).Draw(t, "two_step"),
			Bare:      rapid.Float64Range(0, 0.9).Draw(t, "bare"),
			MaxDigits: rapid.IntRange(2, 3).Draw(t, "max_digits"),
			Counts:    Counts{Train: 30, Search: 20, Validation: 20, Test: 20},
		}
		g, err := NewGenerator(o)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Generate(o)
		if err != nil {
			t.Fatal(err)
		}
		corpus, err := g.Pretrain(40)
		if err != nil {
			t.Fatal(err)
		}
		own := make(map[string]bool)
		check := func(bucket string, problems []Problem) {
			for _, p := range problems {
				key := task.Normalize(p.Text)
				if own[key] {
					t.Fatalf("%q: got it twice", p.Text)
				}
				own[key] = true
				if before, ok := owner[key]; ok && before != bucket {
					t.Fatalf("%q: got it in %s, want only in %s", p.Text, bucket, before)
				}
				owner[key] = bucket
			}
		}
		check("pretrain", corpus)
		for s, problems := range all {
			if want, _ := o.Counts.Of(s); len(problems) != want {
				t.Fatalf("split %s: got %d problems, want %d", s, len(problems), want)
			}
			check(string(s), problems)
		}
	})
}

func TestGenerateIsPure(t *testing.T) {
	o := DefaultGeneratorOptions()
	o.Counts = Counts{Train: 50, Search: 10, Validation: 10, Test: 10}
	first, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := Generate(o)
	if !reflect.DeepEqual(first, second) {
		t.Error("equal options: got different problems")
	}
	longer := o
	longer.Counts.Train = 80
	third, _ := Generate(longer)
	if !reflect.DeepEqual(first[whale.SplitTrain], third[whale.SplitTrain][:50]) {
		t.Error("a longer train split does not start with the shorter one")
	}
	if !reflect.DeepEqual(first[whale.SplitTest], third[whale.SplitTest]) {
		t.Error("a longer train split changed the test split")
	}
	o.Seed++
	if fourth, _ := Generate(o); reflect.DeepEqual(first[whale.SplitTrain], fourth[whale.SplitTrain]) {
		t.Error("another seed: got the same problems")
	}
}

// The problems of a seed are pinned: a change of them changes every recorded run and must be deliberate.
func TestGenerateGolden(t *testing.T) {
	o := DefaultGeneratorOptions()
	o.Counts = Counts{Train: 2, Search: 1, Validation: 1, Test: 1}
	all, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range splits() {
		for _, p := range all[s] {
			got = append(got, string(s)+": "+p.Text+" "+p.Expression()+" = "+strconv.FormatInt(p.Answer, 10))
		}
	}
	want := []string{
		"train: There are 568 coins in 71 equal rows. How many coins are in each row? 568//71 = 8",
		"train: What is 162 - 115? 162-115 = 47",
		"search: A trip is 557 miles long. Kim has gone 13 miles. How many miles are left? 557-13 = 544",
		"validation: A chair costs 4 dollars and a lamp costs 99 dollars. How many dollars do both cost? 4+99 = 103",
		"test: A bike costs 85 dollars. Cara has 30 dollars. How many more dollars does Cara need? 85-30 = 55",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMix(t *testing.T) {
	bare := make(map[string]bool)
	for _, c := range append(oneStep(), twoStep()...) {
		bare[c.id] = c.bare
	}
	for _, c := range []struct{ two, bare float64 }{{0, 0}, {1, 0}, {0.5, 0.3}, {0.2, 1}} {
		o := GeneratorOptions{Seed: 3, TwoStep: c.two, Bare: c.bare, MaxDigits: 3}
		const n = 2000
		var two, plain float64
		for _, p := range pretrain(t, o, n) {
			if p.Kind == KindTwoStep {
				two++
			}
			if bare[p.Template] {
				plain++
			}
		}
		if math.Abs(two/n-c.two) > 0.04 || math.Abs(plain/n-c.bare) > 0.04 {
			t.Errorf("shares: got %.2f two-step and %.2f bare, want %v and %v", two/n, plain/n, c.two, c.bare)
		}
	}
}

// The mix does not lean towards templates that are easy to draw.
func TestTemplatesAreEven(t *testing.T) {
	counts := make(map[string]int)
	for _, p := range pretrain(t, GeneratorOptions{Seed: 1, TwoStep: 0.5, Bare: 0, MaxDigits: 3}, 4300) {
		counts[p.Template]++
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[id]; n < 60 || n > 150 {
			t.Errorf("template %s: got %d problems, want about 100", id, n)
		}
	}
}

func TestExhaustion(t *testing.T) {
	o := GeneratorOptions{Seed: 1, Bare: 1, MaxDigits: 1, Counts: Counts{Test: 1000}}
	if _, err := Generate(o); err == nil || !strings.Contains(err.Error(), "want 1000; raise max_digits") {
		t.Errorf("got error %v, want one that says what to change", err)
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*GeneratorOptions)
		want   string
	}{
		{func(o *GeneratorOptions) { o.TwoStep = 1.5 }, "generator.two_step: got 1.5"},
		{func(o *GeneratorOptions) { o.TwoStep = math.NaN() }, "generator.two_step: got NaN"},
		{func(o *GeneratorOptions) { o.Bare = -1 }, "generator.bare: got -1"},
		{func(o *GeneratorOptions) { o.MaxDigits = 0 }, "generator.max_digits: got 0, want 1 to 3"},
		{func(o *GeneratorOptions) { o.MaxDigits = 4 }, "generator.max_digits: got 4"},
		{func(o *GeneratorOptions) { o.Counts.Search = -1 }, "generator.counts.search: got -1"},
		{func(o *GeneratorOptions) { o.Counts.Test = 1 << 30 }, "generator.counts.test: got 1073741824"},
	} {
		o := DefaultGeneratorOptions()
		c.change(&o)
		if _, err := Generate(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
	g, err := NewGenerator(DefaultGeneratorOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Split("pretrain"); err == nil {
		t.Error("split pretrain: got no error, want one: no task may offer it")
	}
	if _, err := g.Pretrain(-1); err == nil {
		t.Error("-1 problems: got no error")
	}
}

func TestBuckets(t *testing.T) {
	if err := buckets().Validate(); err != nil {
		t.Error(err)
	}
}
