package answer

import (
	"testing"

	"pgregory.net/rapid"
)

// The wanted forms are what normalize_answer of the official script gives (Python 3).
func TestSquad(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"The Beatles":           "beatles",
		"a an the":              "",
		"Theatre":               "theatre",
		"an apple a day":        "apple day",
		"U.S.A.":                "usa",
		"the-end":               "theend",
		"rock 'n' roll!":        "rock n roll",
		"  many   spaces\t\n":   "many spaces",
		"$1,000.50":             "100050",
		"C++":                   "c",
		"«the»":                 "« »",
		"“The End”":             "“ end”",
		"thé a b":               "thé b",
		"ein é a":               "ein é",
		"a\u00a0b":              "b",
		"x\x1cy":                "x y",
		"İstanbul":              "i̇stanbul",
		"ΣΑΣ":                   "σας",
		"ÀÉ":                    "àé",
		"a_b":                   "ab",
		"the²":                  "the²",
		"14 December 1972 UTC":  "14 december 1972 utc",
		"~`!@#$%^&*()_+-=[]{}|": "",
		"\\:;\"'<>,.?/":         "",
		"the the a cat":         "cat",
	} {
		if got := Squad(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`([Tt]he |an? |[a-z.,é]{1,5} ?){0,5}`)).Draw(t, "text")
		once := Squad(s)
		if !ExactMatch(s, []string{"unlikely", s}) || !ExactMatch(" "+s+"\n", []string{s}) {
			t.Fatalf("%q is not itself", s)
		}
		if ExactMatch(s, nil) {
			t.Fatal("matches nothing")
		}
		_ = once
	})
}

func TestExactMatch(t *testing.T) {
	for _, c := range []struct {
		got        string
		references []string
		want       bool
	}{
		{"December 1972", []string{"14 December 1972 UTC", "December 1972"}, true},
		{"the december, 1972.", []string{"December 1972"}, true},
		{"1972", []string{"December 1972"}, false},
		{"", []string{"x"}, false},
		{"the", []string{"a"}, true},
		{"x", nil, false},
	} {
		if got := ExactMatch(c.got, c.references); got != c.want {
			t.Errorf("%q against %q: got %v, want %v", c.got, c.references, got, c.want)
		}
	}
}

func FuzzSquad(f *testing.F) {
	for _, s := range []string{"The a an", "a.b", "é the", "\xff", "ΣΑΣ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !ExactMatch(s, []string{s}) {
			t.Errorf("%q is not itself", s)
		}
	})
}
