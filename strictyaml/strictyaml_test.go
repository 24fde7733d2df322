package strictyaml

import (
	"strings"
	"testing"
)

type inner struct {
	Sessions   int     `yaml:"sessions"`
	Iterations int     `yaml:"iterations"`
	Rate       float64 `yaml:"rate"`
}

type outer struct {
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
		{"search:\n", `c.yaml: search: got nothing`},
		{"search:\n  rate:\n", `c.yaml: search.rate: got nothing`},
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
