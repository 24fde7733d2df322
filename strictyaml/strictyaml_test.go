package strictyaml

import (
	"fmt"
	"strings"
	"testing"
)

type inner struct {
	Sessions   int     `yaml:"sessions"`
	Iterations int     `yaml:"iterations"`
	Rate       float64 `yaml:"rate"`
	Seed       uint64  `yaml:"seed"`
	On         bool    `yaml:"on"`
}

// bomb doubles itself thirty times when its aliases are followed.
func bomb() string {
	s := "list: &a0 [1]\n"
	for i := range 30 {
		s += fmt.Sprintf("l%d: &a%d [*a%d, *a%d]\n", i, i+1, i, i)
	}
	return s
}

type outer struct {
	List   []int            `yaml:"list"`
	Name   string           `yaml:"name"`
	Search inner            `yaml:"search"`
	Map    map[string]inner `yaml:"map"`
}

func TestDecodeErrors(t *testing.T) {
	for _, tc := range []struct{ doc, want string }{
		{"name: x\nsearch:\n  itterations: 3\n", `c.yaml:3:3: unknown key "itterations": did you mean "iterations"?`},
		{"zzzzzz: 3\n", `c.yaml:1:1: unknown key "zzzzzz"`},
		{"search:\n  sessions: many\n", `c.yaml:2:13: `},
		{"name: x\nname: y\n", `c.yaml:2:1: `},
		{"name: [\n", `c.yaml:`},
		{"search:\n", `search: got nothing`},
		{"search:\n  rate:\n", `search.rate: got nothing`},
		{"search:\n  nome: x\n", `c.yaml:2:3: unknown key "nome": did you mean "name"?`},
		{"iterations: 3\n", `unknown key "iterations": did you mean "map.iterations"?`},
		{"search:\n  sessions: 100.9\n", `c.yaml:2:13: search.sessions: got 100.9, want a whole number`},
		{"search:\n  sessions: 18446744073709551616\n", `search.sessions: got 18446744073709551616, want a whole number`},
		{"search:\n  sessions: \"7\"\n", `search.sessions: got "7", want a whole number`},
		{"search:\n  seed: -1\n", `search.seed: got -1, want a whole number, not negative`},
		{"search:\n  rate: fast\n", `search.rate: got fast, want a number`},
		{"search: 3\n", `c.yaml:1:9: search: got 3, want a group of keys`},
		{"name: 3\n", `name: got 3, want text`},
		{"name: {a: 1}\n", `name: got a group of keys, want text`},
		{"search:\n  on: maybe\n", `search.on: got maybe, want true or false`},
		{"list: 3\n", `list: got 3, want a list`},
		{"list: [1, x]\n", `list: got x, want a whole number`},
		{"a: &x [1]\n", `unknown key "a"`},
		{"list: &x [1]\n", `anchors, aliases and tags`},
		{"name: &x y\nsearch: {rate: *x}\n", `anchors, aliases and tags`},
		{"search: {<<: {rate: 1}}\n", `anchors, aliases and tags`},
		{bomb(), `anchors, aliases and tags`},
		{"name: x\n---\nname: y\n", `want one`},
		{strings.Repeat("#", maxBytes+1), "want at most"},
	} {
		v := outer{}
		err := Decode("c.yaml", []byte(tc.doc), &v)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.40q: got %v, want %q", tc.doc, err, tc.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: error has several lines: %q", tc.doc, err)
		}
	}
}

func TestDecodeKeepsDefaults(t *testing.T) {
	for doc, want := range map[string]float64{"search: {rate: 1e-07}": 1e-7, "search: {rate: 5e-4}": 5e-4, "search: {rate: 3}": 3, "search: {rate: .5}": .5} {
		var v outer
		if err := Decode("c.yaml", []byte(doc), &v); err != nil || v.Search.Rate != want {
			t.Errorf("%s: got %v, %v", doc, v.Search.Rate, err)
		}
	}
	for doc, want := range map[string]int{"search: {sessions: 1e3}": 1000, "search: {sessions: 0x10}": 16, "search: {sessions: -2}": -2} {
		var v outer
		if err := Decode("c.yaml", []byte(doc), &v); err != nil || v.Search.Sessions != want {
			t.Errorf("%s: got %v, %v", doc, v.Search.Sessions, err)
		}
	}
	v := outer{Name: "default", Search: inner{Sessions: 7, Rate: 0.5}}
	if err := Decode("c.yaml", []byte("search:\n  rate: 2\n"), &v); err != nil {
		t.Fatal(err)
	}
	if v.Name != "default" || v.Search.Sessions != 7 || v.Search.Rate != 2 {
		t.Errorf("got %+v", v)
	}
	if err := Decode("c.yaml", []byte("# nothing\n"), &v); err != nil || v.Search.Sessions != 7 {
		t.Errorf("empty document: %v, %+v", err, v)
	}
}

func TestNearest(t *testing.T) {
	if got := Nearest("learing_rate", []string{"learning_rate", "rate"}); got != "learning_rate" {
		t.Errorf("got %q", got)
	}
	if got := Nearest("xyz", []string{"learning_rate"}); got != "" {
		t.Errorf("got %q", got)
	}
}
