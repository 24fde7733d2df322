package process

import (
	"strconv"
	"testing"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/conformance"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// A whole episode of one model call, which is mostly the start of its process.
func BenchmarkForeignEpisode(b *testing.B) {
	r := open(b, nil)
	c := conformance.Cases()[0]
	for _, language := range []string{whale.LanguageStar, whale.LanguagePython, whale.LanguageNode} {
		b.Run(language, func(b *testing.B) {
			if language != whale.LanguageStar {
				needs(b, r, language)
			}
			h, err := r.New(c.File(language))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := h.Run(b.Context(), &harnesstest.Host{Replies: []harnesstest.Reply{{Text: "one"}}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A model call from inside of a running program, there and back.
func BenchmarkForeignCall(b *testing.B) {
	r := open(b, nil)
	for name, src := range map[string]string{
		"a.star": "def run(task, model, env):\n    for _ in range(int(task.n)):\n        model.count(\"x\")\n",
		"a.py":   "def run(task, model, env):\n    for _ in range(int(task.n)):\n        model.count(\"x\")\n",
	} {
		b.Run(harness.LanguageOf(name), func(b *testing.B) {
			if name != "a.star" {
				needs(b, r, harness.LanguageOf(name))
			}
			h, err := r.New(name, []byte(src))
			if err != nil {
				b.Fatal(err)
			}
			limits := harnesstest.Limits()
			limits.Steps = 1 << 40
			b.ResetTimer()
			if _, err := h.Run(b.Context(), &harnesstest.Host{View: map[string]string{"n": strconv.Itoa(b.N)}, Limits: limits}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
