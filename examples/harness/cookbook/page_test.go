package cookbook_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/cookbook.md anew")

const pagePath = "../../../docs/cookbook.md"

const pageIntro = `# Cookbook

<!-- Written by go test ./examples/harness/cookbook -update from the files in examples/harness/cookbook. -->

Small mechanisms for harnesses. Each is a whole program in [examples/harness/cookbook](../examples/harness/cookbook), and a test plays
it against a scripted model and asks for what is promised here. Take one as it is with

    whale harness check examples/harness/cookbook/retry-missing-tag.star
    whale harness run examples/harness/cookbook/retry-missing-tag.star --config examples/math/quick.yaml --example 3

or copy what you need into your own; [contract.md](contract.md) lists what a program may call, and [howto-harness.md](howto-harness.md) says
how one is written. They share three habits: they look at env.left before they call, they put replies into messages as they are, and they
return a reply whatever happens. Those with a search or an answer tag are for tasks that have them.

`

// page writes the cookbook from the files.
func page(list []recipe) string {
	var b strings.Builder
	b.WriteString(pageIntro)
	for _, r := range list {
		fmt.Fprintf(&b, "- [%s](#%s)\n", r.title, anchor(r.title))
	}
	for _, r := range list {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n`examples/harness/cookbook/%s.star`:\n\n", r.title, r.about, r.name)
		fence := "```"
		if strings.Contains(r.code, "```") {
			fence = "````"
		}
		fmt.Fprintf(&b, "%spython\n%s%s\n", fence, r.code, fence)
	}
	return b.String()
}

// anchor is the link that a heading gets.
func anchor(title string) string {
	keep := func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return -1
	}
	return strings.Map(keep, strings.ToLower(title))
}

// TestPage asks that docs/cookbook.md is what the files say.
func TestPage(t *testing.T) {
	want := page(recipes(t))
	if *update {
		if err := os.WriteFile(pagePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/cookbook.md is not what the files say: run go test ./examples/harness/cookbook -update")
	}
}
