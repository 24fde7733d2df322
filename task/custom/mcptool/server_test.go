package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	whale "github.com/seed-095d5d2b/whale"
)

func args(pairs ...string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return out
}

// over runs a test against a server over stdio and one over HTTP.
func over(t *testing.T, f func(t *testing.T, o Options)) {
	t.Run("stdio", func(t *testing.T) { f(t, options("good")) })
	t.Run("http", func(t *testing.T) {
		s := newServer("good")
		h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
		t.Cleanup(h.Close)
		o := options("")
		o.Args, o.Env, o.URL = nil, nil, h.URL
		f(t, o)
	})
}

func TestCalls(t *testing.T) {
	over(t, func(t *testing.T, o Options) {
		s := open(t, o)
		var names []string
		for _, tool := range s.Tools() {
			names = append(names, tool.Spec.Name)
		}
		if got := strings.Join(names, " "); got != "die hang huge long pid structured sum" {
			t.Errorf("got the tools %s", got)
		}
		for _, tc := range []struct {
			tool                      string
			args                      map[string]json.RawMessage
			text, data, mistake, died string
		}{
			{tool: "sum", args: args("a", "2", "b", "3"), text: "5\n[an image is left out]"},
			{tool: "sum", args: args("a", "13", "b", "3"), mistake: "sum: 13 is unlucky"},
			{tool: "sum", args: args("a", `"x"`, "b", "3"), mistake: "sum: "},
			{tool: "nothing", mistake: "nothing: "},
			{tool: "long", text: strings.Repeat("x", 1000) + "\n[cut: the first 1000 of 5000 bytes are shown]"},
			{tool: "structured", text: `{"n":1}`, data: `{"n":1}`},
			{tool: "huge", died: "huge: "},
			{tool: "sum", args: args("a", "2", "b", "2"), text: "4\n[an image is left out]"}, // it is back
		} {
			got, err := s.Call(t.Context(), tc.tool, tc.args)
			if tc.died != "" {
				var incident *whale.Incident
				if !errors.As(err, &incident) || incident.Reason != whale.FailTool || !strings.Contains(incident.Detail, tc.died) {
					t.Errorf("%s: got %v, want an incident", tc.tool, err)
				}
				continue
			}
			if err != nil || got.Text != tc.text || string(got.Data) != tc.data || !strings.HasPrefix(got.Error, tc.mistake) || (tc.mistake == "") != (got.Error == "") {
				t.Errorf("%s: got %+v (%v), want %q %q %q", tc.tool, got, err, tc.text, tc.data, tc.mistake)
			}
		}
	})
}

// Many episodes use one session at a time.
func TestConcurrentCalls(t *testing.T) {
	over(t, func(t *testing.T, o Options) {
		s := open(t, o)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				got, err := s.Call(t.Context(), "sum", args("a", fmt.Sprint(i), "b", "100"))
				if want := fmt.Sprintf("%d\n[an image is left out]", 100+i); i != 13 && (err != nil || got.Text != want) {
					t.Errorf("got %+v (%v), want %s", got, err, want)
				}
			})
		}
		wg.Wait()
	})
}

// A call that is not answered is an incident, and neither spoils the session nor outlasts its time; a caller that leaves is not kept.
func TestSlowCall(t *testing.T) {
	over(t, func(t *testing.T, o Options) {
		o.Call = 300 * time.Millisecond
		s := open(t, o)
		before, err := s.Call(t.Context(), "pid", nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = s.Call(t.Context(), "hang", nil)
		var incident *whale.Incident
		if !errors.As(err, &incident) || !strings.Contains(incident.Detail, "no answer within 300ms") {
			t.Errorf("got %v, want an incident", err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("took %v", took)
		}
		if after, err := s.Call(t.Context(), "pid", nil); err != nil || after.Text != before.Text {
			t.Errorf("after it: got %+v (%v), want the same server %s", after, err, before.Text)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		if _, err := s.Call(ctx, "hang", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %v", err)
		}
	})
}

// A server that dies over a call is an incident; the next call finds another.
func TestDeath(t *testing.T) {
	s := open(t, options("good"))
	before, err := s.Call(t.Context(), "pid", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Call(t.Context(), "die", nil)
	var incident *whale.Incident
	if !errors.As(err, &incident) {
		t.Errorf("got %v, want an incident", err)
	}
	after, err := s.Call(t.Context(), "pid", nil)
	if err != nil || after.Text == before.Text {
		t.Errorf("after it: got %+v (%v), want another server than %s", after, err, before.Text)
	}
	// Death between calls is nobody's doing.
	var pid int
	if _, err := fmt.Sscan(after.Text, &pid); err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.live.over
	if third, err := s.Call(t.Context(), "pid", nil); err != nil || third.Text == after.Text {
		t.Errorf("after a death between calls: got %+v (%v), want a third server", third, err)
	}
	// One that comes back with other tools is another server.
	s.o.Env = []string{"MCPTOOL_TEST_ROLE=other"}
	_, _ = s.Call(t.Context(), "die", nil)
	if _, err := s.Call(t.Context(), "pid", nil); err == nil || errors.As(err, &incident) || !strings.Contains(err.Error(), "other tools") {
		t.Errorf("other tools: got %v, want an error", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Call(t.Context(), "pid", nil); !errors.Is(err, errClosed) {
		t.Errorf("closed: got %v", err)
	}
}

// Servers that are of no use are told from each other, soon, and leave nothing behind.
func TestHostileServers(t *testing.T) {
	for role, want := range map[string]string{
		"silent":  "its tools are not known within 1s",
		"deaf":    "its tools are not known within 1s",
		"garbage": "", // either, as the SDK happens to see it
		"endless": "",
		"chatter": "",
		"dead":    "cannot connect: ",
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			o := options(role)
			o.Connect = time.Second
			began := time.Now()
			s, err := Open(t.Context(), o)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: got %v, want %s", role, err, want)
			}
			if role == "dead" && !strings.Contains(err.Error(), "(it says: cannot find my database)") {
				t.Errorf("%s: got %v, want what it said", role, err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s: took %v", role, took)
			}
		})
	}
	o := options("good")
	o.Args = []string{"/no/such/program"}
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "cannot start") {
		t.Errorf("no program: got %v", err)
	}
}

// HTTP servers that answer badly, or not at all.
func TestHostileHTTP(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"garbage": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") },
		"missing": http.NotFound,
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
		},
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for range 64 {
				if _, err := fmt.Fprint(w, strings.Repeat(" ", 1<<20)); err != nil {
					return
				}
			}
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				fmt.Fprint(w, "data: "+strings.Repeat("x", 1<<16))
			}
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client leaves
			<-r.Context().Done()
		},
	} {
		h := httptest.NewServer(handler)
		o := options("")
		o.Args, o.URL, o.Connect = nil, h.URL, time.Second
		began := time.Now()
		s, err := Open(t.Context(), o)
		if err == nil {
			s.Close()
			t.Errorf("%s: got no error", name)
		}
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		h.CloseClientConnections()
		h.Close()
	}
}

// A server that was started anew knows no session of before; the call is made again in a new one.
func TestLostSession(t *testing.T) {
	var current atomic.Pointer[mcp.StreamableHTTPHandler]
	renew := func() {
		s := newServer("good")
		current.Store(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	}
	renew()
	var token atomic.Value
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token.Store(r.Header.Get("Authorization"))
		current.Load().ServeHTTP(w, r)
	}))
	defer h.Close()
	o := options("")
	o.Args, o.URL, o.Headers = nil, h.URL, http.Header{"Authorization": {"Bearer hush"}}
	s := open(t, o)
	renew()
	if got, err := s.Call(t.Context(), "sum", args("a", "1", "b", "1")); err != nil || !strings.HasPrefix(got.Text, "2") {
		t.Errorf("got %+v (%v), want 2", got, err)
	}
	if token.Load() != "Bearer hush" {
		t.Errorf("got the header %v", token.Load())
	}
}

// A server that is full, or away, is the infrastructure's trouble, and the session goes on after it.
func TestServerDown(t *testing.T) {
	s := newServer("good")
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	var full atomic.Bool
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if full.Load() && r.Method == http.MethodPost {
			http.Error(w, "full", http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	o := options("")
	o.Args, o.URL = nil, h.URL
	tools := open(t, o)
	full.Store(true)
	var incident *whale.Incident
	if _, err := tools.Call(t.Context(), "pid", nil); err == nil || errors.As(err, &incident) || !strings.Contains(err.Error(), "status 503: full") {
		t.Errorf("full: got %v, want an error", err)
	}
	full.Store(false)
	if got, err := tools.Call(t.Context(), "pid", nil); err != nil || got.Text != fmt.Sprint(os.Getpid()) {
		t.Errorf("after it: got %+v (%v)", got, err)
	}
	h.Close()
	if got, err := tools.Call(t.Context(), "pid", nil); err == nil || errors.As(err, &incident) || !strings.Contains(err.Error(), "not reached") {
		t.Errorf("away: got %+v, %v, want an error", got, err)
	}
}

// Filters take, leave out and rename; one that meets nothing is an error.
func TestFilters(t *testing.T) {
	for _, tc := range []struct {
		change func(o *Options)
		want   string
	}{
		{func(o *Options) { o.Tools = []string{"s*", "pid"} }, "pid structured sum"},
		{func(o *Options) { o.Tools, o.Prefix = []string{"sum"}, "my_" }, "my_sum"},
		{func(o *Options) { o.Tools, o.Except = []string{"nested"}, nil }, `error: tool "nested": argument "filter": got type "object", want string, integer, number or boolean; leave the tool out`},
		{func(o *Options) { o.Tools, o.Except, o.Omit = []string{"nested"}, nil, []string{"nested.filter"} }, "nested"},
		{func(o *Options) { o.Tools, o.Except, o.Omit = []string{"nested"}, nil, []string{"nested.q"} }, `error: tool "nested": omit: its argument "q" is required`},
		{func(o *Options) { o.Tools = []string{"summ"} }, `error: "summ" meets none of its tools (die, hang`},
		{func(o *Options) { o.Except = []string{"*"} }, "error: got no tools that are taken"},
		{func(o *Options) { o.Omit = []string{"x.y"} }, `error: omit: "x.y" meets no argument`},
	} {
		o := options("good")
		tc.change(&o)
		s, err := Open(t.Context(), o)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			var names []string
			for _, tool := range s.Tools() {
				names = append(names, tool.Spec.Name)
			}
			got = strings.Join(names, " ")
			s.Close()
		}
		if got != tc.want && (err == nil || !strings.HasPrefix(got, tc.want)) {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}
