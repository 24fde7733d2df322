package task

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"  What\tis\n 3 + 5? ", "what is 3 + 5?"},
		{"What is 3 - 5?", "what is 3 - 5?"},
		{"A\u00a0B", "a b"},
	} {
		if got := Normalize(c.in); got != c.want {
			t.Errorf("Normalize(%q): got %q, want %q", c.in, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		once := Normalize(s)
		if twice := Normalize(once); twice != once {
			t.Fatalf("Normalize twice: got %q, want %q", twice, once)
		}
	})
}

func TestBucketsShares(t *testing.T) {
	b := Buckets{{"a", 60}, {"b", 30}, {"c", 10}}
	if err := b.Validate(); err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	counts := make(map[string]int)
	for i := range n {
		text := fmt.Sprintf("What is %d?", i)
		name := b.Of(text)
		if other := b.Of("  " + strings.ToUpper(text)); other != name {
			t.Fatalf("%q: got bucket %s in upper case, want %s", text, other, name)
		}
		counts[name]++
	}
	for _, k := range b {
		want := float64(k.Percent) / 100
		if got := float64(counts[k.Name]) / n; math.Abs(got-want) > 0.02 {
			t.Errorf("bucket %s: got share %.3f, want %.2f", k.Name, got, want)
		}
	}
}

func TestBucketsValidate(t *testing.T) {
	for _, c := range []struct {
		buckets Buckets
		want    string
	}{
		{Buckets{{"a", 50}, {"b", 49}}, "99 percent in all"},
		{Buckets{{"a", 50}, {"a", 50}}, "distinct names"},
		{Buckets{{"", 100}}, "distinct names"},
		{Buckets{{"a", 100}, {"b", 0}}, "at least 1"},
		{nil, "0 percent in all"},
	} {
		if err := c.buckets.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got error %v, want one with %q", c.buckets, err, c.want)
		}
	}
}
