package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/custom/web"
)

// Options say where a server is and what it may cost.
type Options struct {
	Args    []string // of a server over stdio: its program, as an absolute path, and arguments
	Dir     string
	Env     []string    // all of its environment
	URL     string      // of a server over streamable HTTP
	Headers http.Header // of every request to it

	Tools, Except []string // names or patterns of tools to take (none: all) and to leave out
	Omit          []string // optional arguments to leave out, as tool.argument
	Prefix        string   // put before the tools' names

	Connect      time.Duration // until its tools are known
	Call         time.Duration // until a call must be answered
	MessageBytes int           // of one message
	OutputBytes  int           // of a call's answer
}

// Server is a server with its tools. It is safe for many goroutines at once.
type Server struct {
	o     Options
	tools []Tool

	turn   chan struct{} // holds one token for whoever may change what follows; a mutex would not mind contexts
	live   *session      // nil = there is none
	closed bool
}

// Tool is one of a server's tools.
type Tool struct {
	Name string         // as the server calls it
	Spec whale.ToolSpec // as agents see it
}

// Open connects to a server and translates its tools.
func Open(ctx context.Context, o Options) (*Server, error) {
	s := &Server{o: o, turn: make(chan struct{}, 1)}
	live, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	s.live = live
	s.tools = live.tools
	return s, nil
}

// Tools are those that the options take, in the order of their names.
func (s *Server) Tools() []Tool { return slices.Clone(s.tools) }

// session is a connection that lasts until its end is seen.
type session struct {
	*mcp.ClientSession
	tools   []Tool
	over    chan struct{} // closed when the connection has ended
	release func()        // ends the process, or the connections
}

// end closes a session. The process goes first: closing waits for calls that are under way, and these end with it.
func (x *session) end() {
	x.release()
	_ = x.Close()
	<-x.over
	x.release()
}

// errClosed is that a Server was closed.
var errClosed = errors.New("the server's tools are closed")

// session gives the live session, a new one where the last has ended.
func (s *Server) session(ctx context.Context) (*session, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer s.done()
	if s.closed {
		return nil, errClosed
	}
	if s.live != nil {
		select {
		case <-s.live.over:
			s.live.end()
			s.live = nil
		default:
			return s.live, nil
		}
	}
	live, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(live.tools, s.tools) {
		live.end()
		return nil, errors.New("the server came back with other tools than it had at the start")
	}
	s.live = live
	return live, nil
}

func (s *Server) done() { <-s.turn }

// drop ends a session that is of no more use, unless another has taken its place.
func (s *Server) drop(x *session) {
	s.turn <- struct{}{}
	defer s.done()
	if s.live == x {
		s.live = nil
		x.end()
	}
}

// Close ends the session, and the server if it was started here.
func (s *Server) Close() error {
	s.turn <- struct{}{}
	defer s.done()
	s.closed = true
	if s.live != nil {
		s.live.end()
		s.live = nil
	}
	return nil
}

// connect makes a session and asks for the tools.
func (s *Server) connect(ctx context.Context) (_ *session, err error) {
	limited, cancel := context.WithTimeoutCause(ctx, s.o.Connect, fmt.Errorf("its tools are not known within %v", s.o.Connect))
	defer cancel()
	said := func() string { return "" }
	defer func() { // nothing is left of what was started
		switch {
		case err == nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case limited.Err() != nil:
			err = fmt.Errorf("%w%s", context.Cause(limited), said())
		default:
			err = fmt.Errorf("%w%s", err, said())
		}
	}()
	var transport mcp.Transport
	var release func()
	if s.o.URL != "" {
		client := web.Client(web.Options{Headers: s.o.Headers, Answer: int64(s.o.MessageBytes), Retries: 2})
		release = client.CloseIdleConnections
		transport = &mcp.StreamableClientTransport{
			Endpoint: s.o.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: s.o.MessageBytes,
		}
	} else {
		p, err := start(s.o)
		if err != nil {
			return nil, err
		}
		release, said = p.kill, p.said
		transport = &mcp.IOTransport{Reader: p.stdout, Writer: p.stdin, MaxLineLength: s.o.MessageBytes}
		// A server that does not read is not waited for.
		stop := context.AfterFunc(limited, p.kill)
		defer stop()
	}
	// It may ask nothing of this client.
	client := mcp.NewClient(&mcp.Implementation{Name: "whale", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	raw, err := client.Connect(limited, transport, nil)
	if err != nil {
		release()
		return nil, fmt.Errorf("cannot connect: %s", oneLine(err.Error(), 300))
	}
	x := &session{ClientSession: raw, over: make(chan struct{}), release: release}
	go func() { // ends with the session, which its owner ends
		_ = raw.Wait()
		close(x.over)
	}()
	if x.tools, err = s.list(limited, raw); err != nil {
		x.end()
		return nil, err
	}
	return x, nil
}

// Bounds of a list of tools.
const (
	maxPages = 20
	maxTools = 200
)

// list asks for all tools and translates those that are taken.
func (s *Server) list(ctx context.Context, raw *mcp.ClientSession) ([]Tool, error) {
	var all []*mcp.Tool
	cursor := ""
	for page := 0; ; page++ {
		if page == maxPages {
			return nil, fmt.Errorf("got more than %d pages of tools", maxPages)
		}
		got, err := raw.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, fmt.Errorf("its tools: %s", oneLine(err.Error(), 300))
		}
		if all = append(all, got.Tools...); len(all) > maxTools {
			return nil, fmt.Errorf("got more than %d tools", maxTools)
		}
		if cursor = got.NextCursor; cursor == "" {
			break
		}
	}
	slices.SortFunc(all, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
		if i > 0 && names[i-1] == t.Name {
			return nil, fmt.Errorf("got two tools of the name %s", quote(t.Name))
		}
	}
	if err := s.o.filters(names); err != nil {
		return nil, err
	}
	var out []Tool
	for _, t := range all {
		if !s.o.takes(t.Name) {
			continue
		}
		spec, err := Spec(t, s.o.Prefix, s.o.omitted(t.Name))
		if err != nil {
			return nil, err
		}
		out = append(out, Tool{t.Name, spec})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("got no tools that are taken (it has %s)", oneLine(strings.Join(names, ", "), 300))
	}
	return out, nil
}

// takes says whether the options want a tool.
func (o Options) takes(name string) bool {
	return (len(o.Tools) == 0 || meets(o.Tools, name)) && !meets(o.Except, name)
}

// meets says whether any of the patterns meets a name.
func meets(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// omitted are the arguments of a tool that are left out.
func (o Options) omitted(tool string) []string {
	var out []string
	for _, each := range o.Omit {
		if argument, ok := strings.CutPrefix(each, tool+"."); ok {
			out = append(out, argument)
		}
	}
	return out
}

// filters reports filters that meet no tool: a misspelt one would leave out in silence.
func (o Options) filters(names []string) error {
	known := oneLine(strings.Join(names, ", "), 300)
	for _, p := range slices.Concat(o.Tools, o.Except) {
		if !slices.ContainsFunc(names, func(n string) bool { return meets([]string{p}, n) }) {
			return fmt.Errorf("%s meets none of its tools (%s)", quote(p), known)
		}
	}
	for _, each := range o.Omit {
		if !slices.ContainsFunc(names, func(n string) bool { return o.takes(n) && strings.HasPrefix(each, n+".") }) {
			return fmt.Errorf("omit: %s meets no argument of its tools, want tool.argument", quote(each))
		}
	}
	return nil
}

// arguments are a call's, as the SDK takes them.
func arguments(args map[string]json.RawMessage) map[string]json.RawMessage {
	if args == nil {
		return map[string]json.RawMessage{}
	}
	return args
}
