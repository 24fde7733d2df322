package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

// call opens the task, and calls its tool t.
func call(t *testing.T, yaml string, d Deps, args map[string]json.RawMessage, more ...string) (whale.ToolResult, error) {
	t.Helper()
	env, err := newTask(t, folder(t, exact+yaml, more...), d).NewEnv(t.Context(), whale.Example{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	return env.Call(t.Context(), "t", args)
}

func raw(pairs ...string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return out
}

const parameters = "parameters: [{name: word, type: string}, {name: n, type: integer, optional: true}]"

// What commands may do, and what comes of it.
func TestCommandTool(t *testing.T) {
	for _, tc := range []struct {
		role, output string
		want         whale.ToolResult
		incident     string // of the harness's possible doing
		err          string // of the infrastructure
	}{
		{role: "echo", want: whale.ToolResult{Text: `{"n":2,"word":"a\nb"}`}},
		{role: "json", output: "json", want: whale.ToolResult{Text: "found", Data: json.RawMessage(`{"n": 1}`)}},
		{role: "jsonerror", output: "json", want: whale.ToolResult{Error: "no such word"}},
		{role: "garbage", want: whale.ToolResult{Text: "this is no JSON"}},
		{role: "garbage", output: "json", err: `an answer that is no {"text", "data", "error"}`},
		{role: "mistake", want: whale.ToolResult{Error: "t: no such word"}},
		{role: "again", err: "exit status 75: disk full"},
		{role: "hang", incident: "t: no end within 500ms"},
		{role: "flood", want: whale.ToolResult{Text: strings.Repeat("x", 200) + "\n[cut: the first 200 bytes are shown]"}},
		{role: "floodjson", output: "json", want: whale.ToolResult{Error: "t: the answer is longer than 200 bytes"}},
		{role: "die", incident: "t: signal: killed"},
		{role: "child", incident: "left a process behind"},
	} {
		command := self() + "}"
		if tc.output != "" {
			command = self() + ", output: " + tc.output + "}"
		}
		limits := "seconds: 5"
		if tc.role == "hang" {
			limits = "seconds: 0.5"
		}
		yaml := fmt.Sprintf("tools: [{name: t, description: d, %s, command: %s, limits: {%s, output_bytes: 200}}]\n", parameters, command, limits)
		began := time.Now()
		got, err := call(t, yaml, deps(tc.role), raw("word", `"a\nb"`, "n", "2"))
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s: took %v", tc.role, took)
		}
		var incident *whale.Incident
		switch is := errors.As(err, &incident); {
		case tc.incident != "":
			if !is || incident.Reason != whale.FailTool || !strings.Contains(incident.Detail, tc.incident) {
				t.Errorf("%s: got %v, want an incident: %s", tc.role, err, tc.incident)
			}
		case tc.err != "":
			if err == nil || is || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: got %v, want the error %s", tc.role, err, tc.err)
			}
		case err != nil || got.Text != tc.want.Text || got.Error != tc.want.Error || string(got.Data) != string(tc.want.Data):
			t.Errorf("%s: got %+v (%v), want %+v", tc.role, got, err, tc.want)
		}
	}
}

// The caller's own mistakes come back as the tool's error.
func TestToolMistakes(t *testing.T) {
	yaml := "tools: [{name: t, description: d, " + parameters + ", command: " + self() + "}}]\n"
	for _, tc := range []struct {
		args map[string]json.RawMessage
		want string
	}{
		{raw(), `missing argument "word"`},
		{raw("word", "1"), "want string"},
		{raw("word", `"a"`, "wrd", `"b"`), `unknown argument "wrd"`},
	} {
		got, err := call(t, yaml, deps("echo"), tc.args)
		if err != nil || !strings.Contains(got.Error, tc.want) {
			t.Errorf("%v: got %+v (%v), want the error %s", tc.args, got, err, tc.want)
		}
	}
	env, _ := newTask(t, folder(t, exact), Deps{}).NewEnv(t.Context(), whale.Example{}, 0)
	if got, err := env.Call(t.Context(), "t", nil); err != nil || got.Error != "this task has no tools" {
		t.Errorf("no tools: got %+v (%v)", got, err)
	}
	var broken *whale.HarnessError
	if _, err := env.Render("board", nil); !errors.As(err, &broken) {
		t.Errorf("render: got %v, want a failure of the harness", err)
	}
}

// A program gets the variables that are named, and nothing else of this process's.
func TestCommandEnvironment(t *testing.T) {
	t.Setenv("CUSTOM_SECRET", "hush")
	t.Setenv("CUSTOM_OTHER", "not this")
	yaml := fmt.Sprintf("tools: [{name: t, description: d, command: {run: [%q], env: [CUSTOM_TEST_ROLE, CUSTOM_SECRET]}}]\n", os.Args[0])
	got, err := call(t, yaml, deps("env"), nil)
	if err != nil || !strings.Contains(got.Text, "CUSTOM_SECRET=hush") || strings.Contains(got.Text, "CUSTOM_OTHER") {
		t.Errorf("got %q (%v), want CUSTOM_SECRET and not CUSTOM_OTHER", got.Text, err)
	}
}

// Of one tool, so many calls run at a time as its limits say.
func TestAtOnce(t *testing.T) {
	script := "#!/bin/sh\nmkdir lock || { echo busy; exit 0; }\nsleep 0.1\nrmdir lock\necho alone\n"
	task := newTask(t, folder(t, exact+"tools: [{name: t, description: d, command: {run: [./t.sh]}, limits: {at_once: 1}}]\n", "t.sh", script), deps(""))
	env, _ := task.NewEnv(t.Context(), whale.Example{}, 0)
	results := make(chan string)
	for range 4 {
		go func() {
			got, err := env.Call(context.Background(), "t", nil)
			results <- fmt.Sprint(got.Text, got.Error, err)
		}()
	}
	for range 4 {
		if got := <-results; got != "alone<nil>" {
			t.Errorf("got %q, want alone", got)
		}
	}
}

// A sandboxed command sees its files, and neither this machine's nor the network.
func TestSandboxedCommand(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("there is no bwrap")
	}
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no " + python)
	}
	script := `
import json, os, socket, sys
args = json.load(sys.stdin)
try:
    socket.socket()
    net = "net"
except OSError:
    net = "no net"
print(args["word"], open("/harness/words.txt").read().strip(), os.path.exists("/root"), net, os.environ.get("CUSTOM_SECRET"))
`
	yaml := fmt.Sprintf("tools: [{name: t, description: d, %s, command: {run: [%q, -I, look.py], files: [words.txt], sandboxed: true}}]\n", parameters, python)
	got, err := call(t, yaml, deps(""), raw("word", `"hello"`), "look.py", script, "words.txt", "many")
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "hello many False no net None" {
		t.Errorf("got %+v, want a program on its own", got)
	}
	for name, code := range map[string]string{"memory": "x = bytearray(1 << 30)", "time": "while True: pass"} {
		slow := strings.Replace(yaml, "sandboxed: true}", "sandboxed: true}, limits: {seconds: 1.5}", 1)
		_, err := call(t, slow, deps(""), raw("word", `"hello"`), "look.py", code, "words.txt", "many")
		var incident *whale.Incident
		if !errors.As(err, &incident) {
			t.Errorf("%s: got %v, want an incident", name, err)
		}
	}
}

// What endpoints may do, and what comes of it.
func TestHTTPTool(t *testing.T) {
	var calls int
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s\n", r.Header.Get("Content-Type"), r.Header.Get("Authorization"), body)
	})
	mux.HandleFunc("POST /json", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"text": "x", "done": true}`) })
	mux.HandleFunc("POST /bad", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no such word", http.StatusUnprocessableEntity)
	})
	mux.HandleFunc("POST /flood", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", 5000)) })
	mux.HandleFunc("POST /hang", func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	mux.HandleFunc("POST /drip", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	})
	mux.HandleFunc("POST /away", func(w http.ResponseWriter, _ *http.Request) {
		http.Redirect(w, &http.Request{}, "http://192.0.2.1/", http.StatusFound)
	})
	mux.HandleFunc("POST /broken", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "trace", http.StatusInternalServerError) })
	mux.HandleFunc("POST /full", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "full", http.StatusServiceUnavailable) })
	mux.HandleFunc("POST /drop", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("POST /locked", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) })
	mux.HandleFunc("POST /busy", func(w http.ResponseWriter, r *http.Request) {
		if calls++; calls < 3 {
			w.Header().Set("Retry-After", "0")
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "third time: %s", body)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	closed := httptest.NewServer(mux)
	closed.Close()
	for _, tc := range []struct {
		url, output, want, mistake, incident, err string
	}{
		{url: server.URL + "/echo", want: `application/json Bearer hush {"word":"a"}`},
		{url: server.URL + "/json", output: "json", want: "x"},
		{url: server.URL + "/json", want: `{"text": "x", "done": true}`},
		{url: server.URL + "/echo", output: "json", err: "an answer that is no"},
		{url: server.URL + "/bad", mistake: "t: status 422: no such word"},
		{url: server.URL + "/flood", want: strings.Repeat("x", 200) + "\n[cut: the first 200 bytes are shown]"},
		{url: server.URL + "/flood", output: "json", mistake: "t: the answer is longer than 200 bytes"},
		{url: server.URL + "/hang", incident: "no answer within 0.6 s"},
		{url: server.URL + "/drip", want: strings.Repeat("x", 50)},
		{url: server.URL + "/drop", incident: "EOF"},
		{url: server.URL + "/full", err: "status 503: full"},
		{url: server.URL + "/away", err: "status 302"},
		{url: server.URL + "/broken", incident: "status 500: trace"},
		{url: server.URL + "/locked", err: "status 401"},
		{url: server.URL + "/busy", want: `third time: {"word":"a"}`},
		{url: closed.URL, err: "connection refused"},
	} {
		seconds := "5"
		if strings.HasSuffix(tc.url, "/hang") {
			seconds = "0.6"
		}
		if strings.HasSuffix(tc.url, "/drip") {
			seconds, tc.incident, tc.want = "0.6", "no answer within 0.6 s", ""
		}
		output := ""
		if tc.output != "" {
			output = ", output: " + tc.output
		}
		yaml := fmt.Sprintf("tools: [{name: t, description: d, %s, limits: {seconds: %s, output_bytes: 200}, http: {url: %q, retries: 2, headers: {Authorization: 'Bearer ${CUSTOM_SECRET}'}%s}}]\n",
			parameters, seconds, tc.url, output)
		got, err := call(t, yaml, Deps{Getenv: func(string) string { return "hush" }}, raw("word", `"a"`))
		var incident *whale.Incident
		switch is := errors.As(err, &incident); {
		case err != nil && strings.Contains(err.Error(), "hush"):
			t.Errorf("%s: the error tells a secret: %v", tc.url, err)
		case tc.incident != "":
			if !is || !strings.Contains(incident.Detail, tc.incident) {
				t.Errorf("%s: got %+v, %v, want an incident: %s", tc.url, got, err, tc.incident)
			}
		case tc.err != "":
			if err == nil || is || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: got %+v, %v, want the error %s", tc.url, got, err, tc.err)
			}
		case err != nil || got.Text != tc.want || got.Error != tc.mistake:
			t.Errorf("%s: got %+v (%v), want %q %q", tc.url, got, err, tc.want, tc.mistake)
		}
	}
	dir := folder(t, exact+"tools: [{name: t, description: d, http: {url: 'http://h/', headers: {Authorization: '${CUSTOM_UNSET}'}}}]\n")
	if _, err := New(t.Context(), Config{Folder: dir}, Deps{}); err == nil || !strings.Contains(err.Error(), "CUSTOM_UNSET is not set") {
		t.Errorf("an unset secret: got %v", err)
	}
}

// Built-in tools come from the caller, with limits filled in, and are closed with the task.
func TestBuiltin(t *testing.T) {
	b := &fake{}
	open := func(_ context.Context, want Builtin) (Tool, error) {
		b.want = want
		return b, nil
	}
	dir := folder(t, exact+"tools: [{builtin: search, authored: [query], limits: {seconds: 3}, search: {index: idx}}]\n")
	task, err := New(t.Context(), Config{Folder: dir}, Deps{Builtin: open})
	if err != nil {
		t.Fatal(err)
	}
	if b.want.Name != BuiltinSearch || b.want.Limits != (Limits{Seconds: 3, OutputBytes: 8 << 10, AtOnce: 4, MemoryMiB: 256}) || b.want.Search.Index != dir+"/idx" || b.want.Search.TopK != 3 {
		t.Errorf("got %+v", b.want)
	}
	env, _ := task.NewEnv(t.Context(), whale.Example{}, 0)
	if spec := env.Tools()[0]; !spec.Parameters[0].Authored || b.Spec().Parameters[0].Authored {
		t.Errorf("got %+v, want the argument authored here alone", spec)
	}
	if got, err := env.Call(t.Context(), "search", raw("query", `"x"`)); err != nil || got.Text != `"x"` {
		t.Errorf("got %+v (%v)", got, err)
	}
	if err := task.Close(); err != nil || !b.closed {
		t.Errorf("closed: got %v (%v), want true", b.closed, err)
	}
	bad := folder(t, exact+"tools: [{builtin: search, authored: [qurey], search: {index: idx}}]\n")
	if _, err := New(t.Context(), Config{Folder: bad}, Deps{Builtin: open}); err == nil || !strings.Contains(err.Error(), `got "qurey", want one of query`) {
		t.Errorf("authored: got %v", err)
	}
}

type fake struct {
	want   Builtin
	closed bool
}

func (f *fake) Spec() whale.ToolSpec {
	return whale.ToolSpec{Name: "search", Parameters: []whale.ToolParameter{{Name: "query", Type: "string", Required: true}}}
}
func (f *fake) ID() whale.ID { return "fake" }
func (f *fake) Close() error { f.closed = true; return nil }
func (f *fake) Call(_ context.Context, args map[string]json.RawMessage) (whale.ToolResult, error) {
	return whale.ToolResult{Text: string(args["query"])}, nil
}

// Patterns and folds become the environment's rules.
func TestRules(t *testing.T) {
	task := newTask(t, folder(t, exact+"rules: {patterns: [{name: move, regex: '[a-h][1-8]'}], fold: [lower, space]}\n"), Deps{})
	env, _ := task.NewEnv(t.Context(), whale.Example{}, 0)
	r := env.Rules()
	if len(r.Patterns) != 1 || r.Patterns[0].Name != "move" || !r.Patterns[0].Expr.MatchString("to e4") {
		t.Errorf("got %+v, want the pattern", r.Patterns)
	}
	if got := r.Fold("  A\n b "); got != "a b" {
		t.Errorf("fold: got %q, want a b", got)
	}
}
