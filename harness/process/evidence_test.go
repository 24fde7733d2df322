package process

import (
	"context"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// What a failure says is evidence, and evidence of the same episode must be the same each time: no amounts, addresses, numbers of processes.
func TestFailuresReadTheSameEachTime(t *testing.T) {
	r := open(t, func(o *Options) { o.Memory = 128 << 20 })
	for _, tt := range []struct{ name, file, src string }{
		{"memory in small pieces", "a.star", "def run(task, model, env):\n    x = []\n    while True:\n        x.append('a' * 1000000 + str(len(x)))\n"},
		{"memory at once", "a.star", "def run(task, model, env):\n    return 'a' * (1 << 29)\n"},
		{"an object's address", "a.py", "def run(task, model, env):\n    raise ValueError(object())\n"},
		{"Python's memory", "a.py", "def run(task, model, env):\n    x = []\n    while True:\n        x.append(bytearray(1 << 20))\n"},
		{"a crash", "a.py", "import ctypes\ndef run(task, model, env):\n    ctypes.string_at(1)\n"},
		{"Node's memory", "a.mjs", "const a = []; for (let i = 0;; i++) a.push(('x' + i).repeat(1 << 16).split(''))\n"},
		{"Node's abort", "a.mjs", "process.abort()\n"},
		{"an exception of Node", "a.mjs", "throw new Error('at 0x7f3838bbc0b0')\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h whale.Harness
			if tt.file == "a.star" {
				var err error
				if h, err = r.New(tt.file, []byte(tt.src)); err != nil {
					t.Fatal(err)
				}
			} else {
				needs(t, r, map[string]string{"a.py": whale.LanguagePython, "a.mjs": whale.LanguageNode}[tt.file])
				h = ungated(t, r, tt.file, []byte(tt.src))
			}
			var first string
			for i := range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				_, err := h.Run(ctx, &harnesstest.Host{})
				cancel()
				switch {
				case err == nil:
					t.Fatal("got no error")
				case i == 0:
					first = err.Error()
					t.Log(first)
				case err.Error() != first:
					t.Errorf("got %q, and before %q", err, first)
				}
			}
		})
	}
}
