package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fusionServer answers as a SandboxFusion server might.
func fusionServer(t *testing.T, answer http.HandlerFunc, change func(*FusionOptions)) *Fusion {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	o := DefaultFusionOptions()
	o.URL = server.URL + "/"
	if change != nil {
		change(&o)
	}
	f, err := NewFusion(o, 2)
	if err != nil {
		t.Fatal(err)
	}
	f.wait = time.Millisecond
	t.Cleanup(f.Close)
	return f
}

func TestFusion(t *testing.T) {
	var got fusionRequest
	var raw map[string]any
	f := fusionServer(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/run_code" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got %s %s, %v", r.Method, r.URL.Path, err)
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		if err := json.Unmarshal(body, &raw); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, `{"status": "Success", "message": "", "compile_result": null, "run_result": {"status": "Finished", "execution_time": 0.05, "return_code": 0, "stdout": "4\n", "stderr": ""}, "executor_pod_name": null, "files": {}}`)
	}, nil)
	output, errText, err := f.Do(t.Context(), "print(2 + 2)")
	if output != "4" || errText != "" || err != nil {
		t.Errorf("got %q, %q, %v", output, errText, err)
	}
	if got.Code != "print(2 + 2)" || got.Language != "python" || got.Timeout != 10 || got.MemoryMB != 512 || raw["run_timeout"] != 10.0 || raw["memory_limit_MB"] != 512.0 {
		t.Errorf("got request %+v", raw)
	}
}

// What a server may answer, and what comes of it: a result for the model, an error, or another try.
func TestFusionReplies(t *testing.T) {
	finished := func(code int, stdout, stderr string) string {
		return fmt.Sprintf(`{"status": "Failed", "message": "", "run_result": {"status": "Finished", "return_code": %d, "stdout": %q, "stderr": %q}}`, code, stdout, stderr)
	}
	const fine = `{"status": "Success", "run_result": {"status": "Finished", "return_code": 0, "stdout": "ok", "stderr": null}}`
	for _, c := range []struct {
		name    string
		status  int
		replies []string
		want    Result
		err     string
		tries   int32
	}{
		{"fine", 200, []string{fine}, Result{Stdout: "ok"}, "", 1},
		{"the code fails", 200, []string{finished(1, "a\n", "Traceback\nNameError: x")}, Result{"a\n", "Traceback\nNameError: x", "exit status 1: NameError: x"}, "", 1},
		{"killed", 200, []string{finished(-9, "", "")}, Result{Error: "exit status -9"}, "", 1},
		{"time", 200, []string{`{"status": "Failed", "run_result": {"status": "TimeLimitExceeded", "return_code": null, "stdout": "part", "stderr": ""}}`}, Result{Stdout: "part", Error: "out of time: more than 10 s"}, "", 1},
		{"server fails once", 200, []string{`{"status": "SandboxError", "message": "no space"}`, fine}, Result{Stdout: "ok"}, "", 2},
		{"server fails always", 200, []string{`{"status": "SandboxError", "message": "no\nspace"}`}, Result{}, "the server failed: no space (after 3 tries)", 3},
		{"run status", 200, []string{`{"status": "Success", "run_result": {"status": "Error"}}`}, Result{}, `got run status "Error"`, 3},
		{"busy", 503, []string{"busy"}, Result{}, "got HTTP status 503", 3},
		{"too many", 429, []string{"slow"}, Result{}, "got HTTP status 429", 3},
		{"refused", 422, []string{`{"detail": "bad"}`}, Result{}, `got HTTP status 422 Unprocessable Entity: {"detail": "bad"}`, 1},
		{"moved", 302, []string{""}, Result{}, "got HTTP status 302", 1},
		{"no JSON", 200, []string{"<html>"}, Result{}, "reply: invalid character", 1},
		{"another status", 200, []string{`{"status": "fine"}`}, Result{}, `got status "fine"`, 1},
		{"no result", 200, []string{`{"status": "Success"}`}, Result{}, "got no run_result", 1},
		{"no code", 200, []string{`{"status": "Success", "run_result": {"status": "Finished"}}`}, Result{}, "got no return_code", 1},
		{"null", 200, []string{`null`}, Result{}, `got status ""`, 1},
		{"long output", 200, []string{finished(0, strings.Repeat("x", 200), "")}, Result{Stdout: strings.Repeat("x", 100) + "\n[cut: 100 of 200 bytes shown]"}, "", 1},
		{"endless output", 200, []string{strings.Repeat("x", 16<<20+1)}, Result{Error: "stopped: it prints more than 16777216 bytes"}, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tries atomic.Int32
			f := fusionServer(t, func(w http.ResponseWriter, _ *http.Request) {
				n := int(tries.Add(1)) - 1
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.replies[min(n, len(c.replies)-1)])
			}, func(o *FusionOptions) { o.Retries, o.OutputBytes = 2, 100 })
			got, err := f.Run(t.Context(), "print(1)", "")
			if got != c.want || tries.Load() != c.tries || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %+v, %v after %d tries, want %+v, %q after %d", got, err, tries.Load(), c.want, c.err, c.tries)
			}
		})
	}
}

// A server that hangs is given up after the deadline of the request, one that cuts off is tried again, and the context ends all of it.
func TestFusionDeadlines(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
	}
	short := func(o *FusionOptions) { o.RunSeconds, o.RequestSeconds, o.Retries = 0.1, 0.2, 1 }
	start := time.Now()
	f := fusionServer(t, slow, short)
	if got, err := f.Run(t.Context(), "print(1)", ""); err == nil || !strings.Contains(err.Error(), "after 2 tries") {
		t.Errorf("a server that hangs: got %+v, %v", got, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	f = fusionServer(t, slow, nil)
	if _, err := f.Run(ctx, "print(1)", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a context that ends: got %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	var tries atomic.Int32
	f = fusionServer(t, func(w http.ResponseWriter, _ *http.Request) {
		if tries.Add(1) == 1 {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "cut")
			return
		}
		_, _ = io.WriteString(w, `{"status": "Success", "run_result": {"status": "Finished", "return_code": 0, "stdout": "ok"}}`)
	}, nil)
	if got, err := f.Run(t.Context(), "print(1)", ""); err != nil || got.Stdout != "ok" {
		t.Errorf("a reply that breaks off: got %+v, %v", got, err)
	}
	if got, err := f.Run(t.Context(), strings.Repeat("x", 1<<17), ""); err != nil || !strings.Contains(got.Error, "more than 65536") {
		t.Errorf("long code: got %+v, %v", got, err)
	}
}

func TestFusionOptions(t *testing.T) {
	for _, c := range []struct {
		change func(*FusionOptions)
		want   string
	}{
		{func(o *FusionOptions) { o.URL = "" }, `url: got ""`},
		{func(o *FusionOptions) { o.URL = "ftp://x" }, "url: got"},
		{func(o *FusionOptions) { o.URL = "http://user:key@x" }, "url: got one with a user name"},
		{func(o *FusionOptions) { o.RunSeconds = 0 }, "run_seconds: got 0"},
		{func(o *FusionOptions) { o.RequestSeconds = 10 }, "request_seconds: got 10"},
		{func(o *FusionOptions) { o.Retries = -1 }, "retries: got -1"},
		{func(o *FusionOptions) { o.MemoryBytes = 5 }, "memory_bytes: got 5"},
		{func(o *FusionOptions) { o.SourceBytes = 0 }, "source_bytes: got 0"},
		{func(o *FusionOptions) { o.OutputBytes = 0 }, "output_bytes: got 0"},
	} {
		o := DefaultFusionOptions()
		o.URL = "http://127.0.0.1:8080"
		c.change(&o)
		if _, err := NewFusion(o, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
}

func FuzzFusionReply(f *testing.F) {
	f.Add([]byte(`{"status": "Success", "run_result": {"status": "Finished", "return_code": 0, "stdout": "ok", "stderr": null}}`))
	f.Add([]byte(`{"status": "SandboxError", "message": 5}`))
	f.Add([]byte(`{"run_result": []}`))
	client := &Fusion{options: DefaultFusionOptions()}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := client.read(data)
		if err == nil && (len(got.Stdout) > client.options.OutputBytes+100 || strings.Contains(got.Error, "\n")) {
			t.Errorf("got %d bytes, error %q", len(got.Stdout), got.Error)
		}
	})
}
