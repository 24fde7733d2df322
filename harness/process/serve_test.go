package process

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/harnesstest"
)

// converse lets a host serve a program that writes a text and closes its output, reading whatever it is sent.
func converse(t testing.TB, ctx context.Context, h whale.Host, text string) (ref whale.ReplyRef, received string, err error) {
	t.Helper()
	fromProgram, writes := io.Pipe()
	reads, toProgram := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.WriteString(writes, text) // fails where the host has heard enough
		writes.Close()
	})
	wg.Go(func() {
		data, _ := io.ReadAll(reads)
		received = string(data)
	})
	l := newLines(fromProgram, toProgram, MaxLine(h.Start().Limits))
	ref, err = serve(ctx, l, h, session{name: "h.py"})
	wg.Wait()
	<-l.read
	return ref, received, err
}

const (
	sayHi  = `{"type":"request","id":1,"op":"chat","messages":[{"role":"user","content":"hi"}]}` + "\n"
	sayNow = `{"type":"answer","reply":1}` + "\n"
)

// Each program fails with its reason, and with a detail that says what was got and what was wanted.
func TestViolations(t *testing.T) {
	protocol, contract := whale.FailProtocol, whale.FailContract
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	for _, tt := range []struct {
		name, text string
		reason     whale.FailReason
		detail     string
	}{
		{"nothing", "", protocol, "h.py: message 1: got the end of the pipe, want a request or an answer"},
		{"early end", sayHi, protocol, "h.py: message 2: got the end of the pipe, want a request or an answer"},
		{"half a line", `{"type":"answer","rep`, protocol, "h.py: message 1: got the end of the pipe inside a line"},
		{"no newline", `{"type":"answer","reply":null}`, protocol, "got the end of the pipe inside a line"},
		{"garbage", "hello\n", protocol, `h.py: message 1: byte 1: got 'h', want an object`},
		{"empty line", "\n", protocol, "byte 1: got the end, want an object"},
		{"bytes", "\x00\xff\n", protocol, "want an object"},
		{"a list", "[]\n", protocol, "byte 1: got a list, want an object"},
		{"no type", "{}\n", protocol, "the field type is missing"},
		{"two values", `{"type":"answer","reply":null} {}` + "\n", protocol, "byte 32: got an object after the message"},
		{"two messages", sayHi[:len(sayHi)-1] + sayNow, protocol, "got an object after the message"},
		{"cut", `{"type":"answer","reply":` + "\n", protocol, "got the end, want a value"},
		{"trailing comma", `{"type":"answer","reply":null,}` + "\n", protocol, "byte 31: got '}', want a name"},
		{"comment", `{"type":"answer"/**/,"reply":null}` + "\n", protocol, "got '/', want ',' or '}'"},
		{"unknown type", `{"type":"hello"}` + "\n", protocol, `got a message of type "hello", want one of request, print, answer, failure`},
		{"a type of the host", `{"type":"response"}` + "\n", protocol, `got a message of type "response"`},
		{"a type of workers", `{"type":"need"}` + "\n", protocol, `got a message of type "need", want one of request, print, answer, failure`},
		{"a field of workers", `{"type":"answer","reply":null,"steps":1}` + "\n", protocol, "answer: got the field steps, which it does not have"},
		{"unknown field", `{"type":"answer","reply":null,"x":1}` + "\n", protocol, `got the field "x", want one of type, id`},
		{"a field of another", `{"type":"answer","reply":null,"text":"x"}` + "\n", protocol, "answer: got the field text, which it does not have"},
		{"op of an answer", `{"type":"answer","reply":null,"op":"chat"}` + "\n", protocol, "answer: got the field op, which it does not have"},
		{"missing field", `{"type":"answer"}` + "\n", protocol, "answer: the field reply is missing"},
		{"field twice", `{"type":"answer","reply":null,"reply":1}` + "\n", protocol, "the field reply is given twice"},
		{"name twice, escaped", `{"type":"answer","\u0074ype":"answer","reply":1}` + "\n", protocol, "the field type is given twice"},
		{"type of a field", `{"type":1}` + "\n", protocol, "byte 9: got a number, want a string"},
		{"no op", `{"type":"request","id":1}` + "\n", protocol, "request: the field op is missing"},
		{"unknown op", `{"type":"request","id":1,"op":"shell"}` + "\n", protocol, `request: got the op "shell", want one of chat, count, clip, tool, render, left, print`},
		{"no id", `{"type":"request","op":"left"}` + "\n", protocol, "request left: the field id is missing"},
		{"wrong first id", `{"type":"request","id":2,"op":"left"}` + "\n", protocol, "request: got the id 2, want 1"},
		{"id again", sayHi + sayHi, protocol, "h.py: message 2: request: got the id 1, want 2"},
		{"id 0", `{"type":"request","id":0,"op":"left"}` + "\n", protocol, "got the number 0, want a whole one of 1 to 2147483647"},
		{"id of half", `{"type":"request","id":1.5,"op":"left"}` + "\n", protocol, "got the number 1.5, want a whole one"},
		{"huge id", `{"type":"request","id":1` + strings.Repeat("0", 30) + `,"op":"left"}` + "\n", protocol, "got the number 1" + strings.Repeat("0", 23) + ", want a whole one"},
		{"invalid UTF-8", `{"type":"print","text":"` + "\xff" + `"}` + "\n", protocol, "the string is no UTF-8"},
		{"UTF-16 half", `{"type":"print","text":"\ud800"}` + "\n", protocol, "got half of a surrogate pair"},
		{"control character", `{"type":"print","text":"` + "\t" + `"}` + "\n", protocol, "got the byte 0x09 in a string, want an escape"},
		{"bad escape", `{"type":"print","text":"\x41"}` + "\n", protocol, "got an escape that JSON does not have"},
		{"NaN", `{"type":"request","id":1,"op":"tool","name":"a","args":{"x":NaN}}` + "\n", protocol, "got 'N', want a value"},
		{"a number out of range", `{"type":"request","id":1,"op":"tool","name":"a","args":{"x":1e999}}` + "\n", protocol, "got a number that no float can hold"},
		{"a long number", `{"type":"request","id":1,"op":"tool","name":"a","args":{"x":` + strings.Repeat("9", 1001) + `}}` + "\n", protocol, "got a number of 1001 characters, want at most 1000"},
		{"leading zero", `{"type":"request","id":01,"op":"left"}` + "\n", protocol, "got a number that JSON does not allow"},
		{"deep argument", `{"type":"request","id":1,"op":"tool","name":"a","args":{"x":` + deep + `}}` + "\n", protocol, "nested deeper than 64"},
		{"argument twice", `{"type":"request","id":1,"op":"tool","name":"a","args":{"x":1,"x":2}}` + "\n", protocol, `the argument "x" is given twice`},
		{"name twice inside", `{"type":"request","id":1,"op":"tool","name":"a","args":{"x":{"a":1,"a":2}}}` + "\n", protocol, `the name "a" is given twice`},
		{"too long", `{"type":"print","text":"` + strings.Repeat("x", 2<<20) + `"}` + "\n", protocol, "got a message that is too long, want at most 1073152 bytes"},
		{"a line without end", strings.Repeat(" ", 2<<20), protocol, "got a message that is too long"},
		{"a reason of the host's", `{"type":"failure","reason":"limit:tokens","detail":"x"}` + "\n", protocol, `failure: got the reason "limit:tokens", want one of program, contract, answer:foreign`},
		{"a reason of workers", `{"type":"failure","reason":"limit:steps","detail":"x"}` + "\n", protocol, `failure: got the reason "limit:steps"`},

		{"no messages", `{"type":"request","id":1,"op":"chat","messages":[]}` + "\n", contract, "chat: messages: got an empty list, want at least one message"},
		{"unknown role", `{"type":"request","id":1,"op":"chat","messages":[{"role":"boss"}]}` + "\n", contract, `chat: messages[0]: role: got "boss", want "system", "user", "assistant" or "tool"`},
		{"no role", `{"type":"request","id":1,"op":"chat","messages":[{"content":"x"}]}` + "\n", contract, `chat: messages[0]: role: got ""`},
		{"empty stop", `{"type":"request","id":1,"op":"chat","messages":[{"role":"user"}],"stop":["a",""]}` + "\n", contract, "chat: stop[1]: got an empty string"},
		{"max_tokens of 0", `{"type":"request","id":1,"op":"chat","messages":[{"role":"user"}],"max_tokens":0}` + "\n", contract, "chat: max_tokens: got 0, want at least 1"},
		{"clip to nothing", `{"type":"request","id":1,"op":"clip","text":"a","max_tokens":-1}` + "\n", contract, "clip: max_tokens: got -1, want at least 1"},
		{"reply of the future", `{"type":"request","id":1,"op":"chat","messages":[{"role":"assistant","reply":1}]}` + "\n", contract, "chat: messages[0]: reply: got 1, the episode has 0"},
		{"reply and words", sayHi + `{"type":"request","id":2,"op":"chat","messages":[{"role":"assistant","reply":1,"content":"x"}]}` + "\n", contract, "chat: messages[0]: got a reply with content or name"},
		{"reply as user", sayHi + `{"type":"request","id":2,"op":"chat","messages":[{"role":"user","reply":1}]}` + "\n", contract, `chat: messages[0]: role: got "user" with a reply`},
		{"tool without a name", `{"type":"request","id":1,"op":"chat","messages":[{"role":"user"}],"tools":[{"description":"x"}]}` + "\n", contract, "chat: tools[0]: name is missing"},
		{"unknown type of parameter", `{"type":"request","id":1,"op":"chat","messages":[{"role":"user"}],"tools":[{"name":"a","parameters":[{"name":"b","type":"blob"}]}]}` + "\n", contract, `chat: tools[0]: parameters[0]: type: got "blob"`},
		{"a refusal of the host", `{"type":"request","id":1,"op":"render","name":"map"}` + "\n", contract, "nothing of that name"},

		{"answer of the future", `{"type":"answer","reply":1}` + "\n", whale.FailAnswer, "h.py: run returned reply 1, the episode has 0"},
		{"answer in words", sayHi + `{"type":"answer","reply":"4"}` + "\n", whale.FailAnswer, "h.py: run returned a string, want a reply or None"},
		{"answer 0", sayHi + `{"type":"answer","reply":0}` + "\n", whale.FailAnswer, "h.py: run returned the number 0, want a reply or None"},
		{"answer as an object", sayHi + `{"type":"answer","reply":{"ref":1}}` + "\n", whale.FailAnswer, "h.py: run returned an object, want a reply or None"},
		{"failure", `{"type":"failure","detail":"ValueError: \u0000 x\ny","line":7}` + "\n", whale.FailProgram, `h.py:7: ValueError: \x00 x\ny`},
		{"failure without a line", `{"type":"failure","detail":"x"}` + "\n", whale.FailProgram, "h.py: x"},
		{"failure with a reason", `{"type":"failure","reason":"answer:foreign","detail":"x"}` + "\n", whale.FailAnswer, "h.py: x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ref, _, err := converse(t, t.Context(), harnesstest.Sums(), tt.text)
			var failed *whale.HarnessError
			if !errors.As(err, &failed) {
				t.Fatalf("got %d, %v, want a *whale.HarnessError", ref, err)
			}
			if f := failed.Failure; f.Reason != tt.reason || !strings.Contains(f.Detail, tt.detail) || strings.Contains(f.Detail, "\n") || len(f.Detail) > 800 {
				t.Errorf("\n got %s: %s\nwant %s: …%s…", f.Reason, f.Detail, tt.reason, tt.detail)
			}
		})
	}
}

// A whole episode over a pipe: what the host hears and what the program is sent.
func TestConversation(t *testing.T) {
	h := harnesstest.Sums()
	ref, received, err := converse(t, t.Context(), h, strings.Join([]string{
		`{"type":"print","text":"one"}`,
		` { "type" : "request", "op":"chat", "id":1,"messages":[ {"content":"h\u00ed","role":"user"} ], "tools":[{"name":"t","parameters":null}],"max_tokens":9,"stop":["x"]}` + "\r",
		`{"type":"request","id":2,"op":"count","text":"a b"}`,
		`{"type":"request","id":3,"op":"clip","text":"a b","max_tokens":1}`,
		`{"type":"request","id":4,"op":"tool","name":"calculator","args":{"code":"\u00e9 \ud83d\ude00" ,"n":[1, 2.50 ,{"b":null,"a":true}]}}`,
		`{"type":"request","id":5,"op":"render","name":"board","args":{"size":3}}`,
		`{"type":"request","id":6,"op":"left"}`,
		`{"type":"request","id":7,"op":"print","text":"two"}`,
		`{"type":"request","id":8,"op":"tool","name":"nothing"}`,
		`{"type":"request","id":9,"op":"chat","messages":[{"role":"assistant","reply":1},{"reply":1}]}`,
		`{"type":"answer","reply":2}`,
		`nobody reads this`,
	}, "\n")+"\n")
	if err != nil || ref != 2 {
		t.Fatalf("got %d, %v", ref, err)
	}
	if h.Log != "one\ntwo\n" || h.Usage.ModelCalls != 2 || h.Usage.ToolCalls != 2 || h.Usage.Steps != 0 {
		t.Errorf("got the log %q and %+v", h.Log, h.Usage)
	}
	if got := string(h.Requests[4].Args["n"]); got != `[1,2.50,{"b":null,"a":true}]` {
		t.Errorf("got the argument %s", got)
	}
	if got := h.Messages(1)[0].Content; got != "hí" {
		t.Errorf("got the message %q", got)
	}
	lines := strings.Split(strings.TrimSuffix(received, "\n"), "\n")
	want := []string{
		`{"type":"response","id":1,"reply":{"ref":1,"text":"let me compute","tool_calls":[{"name":"calculator","args":{"code":"1+1","digits":2}}],"finish_reason":"stop","tokens":3}}`,
		`{"type":"response","id":2,"number":2}`,
		`{"type":"response","id":3,"text":"a "}`,
		`{"type":"response","id":4,"result":{"text":"2","data":{"value":2,"steps":[1,1.5,null]}}}`,
		`{"type":"response","id":5,"text":"board 3"}`,
		`{"type":"response","id":6,"left":{"tokens":997,"model_calls":3,"tool_calls":3}}`,
		`{"type":"response","id":7}`,
		`{"type":"response","id":8,"result":{"text":"","error":"unknown tool \"nothing\""}}`,
	}
	if !strings.HasPrefix(lines[0], `{"type":"start","protocol":1,"contract":1,"task":{"hint":"two","question":"1+1?"},"tools":[{"name":"calculator",`) {
		t.Errorf("got the start %s", lines[0])
	}
	for i, w := range want {
		if i+1 >= len(lines) || lines[i+1] != w {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, lines[i+1], w)
		}
	}
}

// When the host ends the episode, the program hears nothing more and its pipes are closed.
func TestHostEndsEpisode(t *testing.T) {
	broken := errors.New("the server is down")
	failed := &whale.HarnessError{Failure: whale.Failure{Reason: whale.FailContext, Detail: "too long"}}
	for _, want := range []error{broken, failed} {
		h := harnesstest.Sums()
		h.Before = func(r whale.Request) error {
			if r.Op == whale.OpLeft {
				return want
			}
			return nil
		}
		_, received, err := converse(t, t.Context(), h, sayHi+`{"type":"request","id":2,"op":"left"}`+"\n"+`{"type":"request","id":3,"op":"left"}`+"\n")
		if err != want {
			t.Errorf("got %v, want %v", err, want)
		}
		if n := strings.Count(received, "\n"); n != 2 {
			t.Errorf("the program got %d lines, want the start and one response: %s", n, received)
		}
		if len(h.Requests) != 2 {
			t.Errorf("the host got %d requests, want 2", len(h.Requests))
		}
	}
}

// silentPipe is a program that neither reads nor writes.
func silentPipe(t *testing.T) *lines {
	r, w := io.Pipe()
	r2, w2 := io.Pipe()
	t.Cleanup(func() { w.Close(); r2.Close() })
	l := newLines(r, w2, 1<<20)
	t.Cleanup(func() { <-l.read })
	return l
}

// The end of the context ends an episode at once, whatever the program does: it may not even read its start.
func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := serve(ctx, silentPipe(t), harnesstest.Sums(), session{name: "h.py"})
	if err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %v", d)
	}
}

// A line that drips is bounded by the context alone, and costs no more than the line.
func TestSlowDrip(t *testing.T) {
	fromProgram, writes := io.Pipe()
	reads, toProgram := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = io.Copy(io.Discard, reads) })
	wg.Go(func() {
		for _, b := range []byte(strings.Repeat(" ", 1000)) {
			if _, err := writes.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	l := newLines(fromProgram, toProgram, 1<<20)
	if _, err := serve(ctx, l, harnesstest.Sums(), session{name: "h.py"}); err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	wg.Wait()
	<-l.read
}

// A worker that breaks the protocol is a broken worker, not a bad program.
func TestWorkerViolation(t *testing.T) {
	for _, text := range []string{"garbage", `{"type":"request","id":2,"op":"left","steps":1}`, `{"type":"failure","reason":"limit:tokens","detail":"x"}`} {
		m := newMemory()
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = worker{m}.Send([]byte(text))
			m.end(nil)
		})
		_, err := serve(t.Context(), m, harnesstest.Sums(), session{name: "h.star", worker: true})
		wg.Wait()
		var incident *whale.Incident
		if !errors.As(err, &incident) || incident.Reason != whale.FailWorker {
			t.Errorf("%s: got %v, want an incident", text, err)
		}
	}
}

// A host that answers with what JSON cannot carry is an error of the infrastructure.
func TestResponseThatIsNone(t *testing.T) {
	h := harnesstest.Sums()
	h.Tool = func(string, map[string]json.RawMessage) (whale.ToolResult, error) {
		return whale.ToolResult{Data: json.RawMessage("{")}, nil
	}
	_, _, err := converse(t, t.Context(), brokenHost{h}, `{"type":"request","id":1,"op":"tool","name":"calculator"}`+"\n")
	var failed *whale.HarnessError
	if err == nil || errors.As(err, &failed) || !strings.HasPrefix(err.Error(), "process: response to tool: result: data: byte 2") {
		t.Errorf("got %v", err)
	}
}

// brokenHost answers without the round trip that harnesstest's host makes.
type brokenHost struct{ *harnesstest.Host }

func (h brokenHost) Do(_ context.Context, r whale.Request) (whale.Response, error) {
	result, err := h.Tool(r.Name, r.Args)
	return whale.Response{Result: &result}, err
}
