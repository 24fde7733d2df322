package conformance

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// client is the Node program around a case's body: an author's own client of the protocol, as there is no SDK.
//
//go:embed client.mjs
var client string

// Case is one behaviour.
type Case struct {
	Name string
	// The program in each language. Python "" = the Starlark program is Python as it stands. The Node program is the body of
	// async run(task, model, env), over the client that stands in client.mjs; "" = the case is about the library, which Node has not.
	Star, Python, Node string
	Host               func() *harnesstest.Host

	Answer whale.ReplyRef
	Reason whale.FailReason // of failure; "" = none
	Raw    whale.FailReason // the same where no library stands between program and host, and the host refuses the message; "" = Reason
	Detail string           // a part of the failure's detail
	Line   bool             // the detail begins with the file and line 3
	// Requests are what the host saw, as JSON, operations of print apart; nil = anything. More of them than are written here is a mistake,
	// except after "…".
	Requests []string
	Log      string
}

// In says whether the case has a program in a language.
func (c *Case) In(language string) bool { return language != whale.LanguageNode || c.Node != "" }

// File gives the case's program in a language, and the name of its file.
func (c *Case) File(language string) (name string, src []byte) {
	switch language {
	case whale.LanguagePython:
		if c.Python == "" {
			return "program.py", []byte(c.Star)
		}
		return "program.py", []byte(c.Python)
	case whale.LanguageNode:
		// As in the others, the body begins on line 2.
		return "program.mjs", []byte(strings.Replace(client, "RUN", c.Node, 1))
	}
	return "program.star", []byte(c.Star)
}

// Check runs a case on a harness made of its program, and says what differs. The error is of the harness itself, where it ended as no
// harness may in these cases: an incident or an error of the infrastructure.
func (c *Case) Check(ctx context.Context, h whale.Harness) (differences []string, err error) {
	host := c.Host()
	if host.Replies == nil {
		host.Replies = []harnesstest.Reply{{Text: "one"}, {Text: "two"}, {Text: "three"}}
	}
	differ := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }

	answer, err := h.Run(ctx, host)
	var failed *whale.HarnessError
	switch {
	case errors.As(err, &failed):
		f, want := failed.Failure, c.Reason
		if c.Raw != "" && h.Language() == whale.LanguageNode {
			want = c.Raw
		}
		if f.Reason != want || !strings.Contains(f.Detail, c.Detail) {
			differ("failed with %s: %q, want %q: %q", f.Reason, f.Detail, want, c.Detail)
		}
		if name, _ := c.File(h.Language()); c.Line && !strings.HasPrefix(f.Detail, name+":3:") {
			differ("failed at %q, want line 3 of %s", f.Detail, name)
		}
	case err != nil:
		return nil, err
	case c.Reason != "":
		differ("answered %d, want a failure for %s", answer, c.Reason)
	case answer != c.Answer:
		differ("answered %d, want %d", answer, c.Answer)
	}
	if c.Requests != nil {
		compare(differ, seen(host.Requests), c.Requests)
	}
	if host.Log != c.Log {
		differ("the log is %q, want %q", host.Log, c.Log)
	}
	return differences, nil
}

func compare(differ func(string, ...any), got, want []string) {
	for i, w := range want {
		if w == "…" {
			return
		}
		if i >= len(got) {
			differ("request %d is missing: %s", i+1, w)
			continue
		}
		if !same(got[i], w) {
			differ("request %d: got %s, want %s", i+1, brief(got[i]), brief(w))
		}
	}
	for _, g := range got[min(len(got), len(want)):] {
		differ("got a request too many: %s", brief(g))
	}
}

// seen writes requests as JSON, prints apart: they are in the log.
func seen(requests []whale.Request) []string {
	out := []string{}
	for _, r := range requests {
		if r.Op == whale.OpPrint {
			continue
		}
		data, err := json.Marshal(r)
		if err != nil {
			data = []byte(err.Error())
		}
		out = append(out, string(data))
	}
	return out
}

// same compares JSON by value: languages write numbers and empty lists in their own ways.
func same(got, want string) bool {
	var a, b any
	if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	return reflect.DeepEqual(a, b)
}

func brief(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", s[:300], len(s))
	}
	return s
}
