package mcptool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// TestMain lets this binary be the server that tests start.
func TestMain(m *testing.M) {
	if role := os.Getenv("MCPTOOL_TEST_ROLE"); role != "" {
		serve(role)
		return
	}
	// Sessions of the SDK's own server over HTTP that no client ended go on as long as the server, which has no end.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/modelcontextprotocol/go-sdk/mcp.(*streamableServerConn).Read"))
}

// serve is a server over stdio, good or bad.
func serve(role string) {
	switch role {
	case "silent": // takes everything and says nothing
		_, _ = bufio.NewReader(os.Stdin).ReadString(0)
		time.Sleep(time.Hour)
	case "deaf": // does not even read
		time.Sleep(time.Hour)
	case "garbage":
		fmt.Println("Welcome to my server!")
		time.Sleep(time.Hour)
	case "endless": // one line without an end
		for {
			if _, err := fmt.Print(strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
	case "chatter": // notifications without an end
		for {
			if _, err := fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", 1000) + `"}}`); err != nil {
				return
			}
		}
	case "dead":
		fmt.Fprintln(os.Stderr, "cannot find my database")
		os.Exit(3)
	case "good", "other":
		s := newServer(role)
		_ = s.Run(context.Background(), &mcp.StdioTransport{})
	default:
		fmt.Fprintln(os.Stderr, "unknown role")
		os.Exit(4)
	}
}

type sumArgs struct {
	A int     `json:"a" jsonschema:"the first number"`
	B int     `json:"b"`
	F float64 `json:"f,omitempty"`
}

// newServer is a server with tools that do what tests need.
func newServer(role string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "sum", Description: "Adds."}, func(_ context.Context, _ *mcp.CallToolRequest, in sumArgs) (*mcp.CallToolResult, any, error) {
		if in.A == 13 {
			return nil, nil, fmt.Errorf("13 is\nunlucky")
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(in.A + in.B)}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte{1}}}}, nil, nil
	})
	text := func(s string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}, nil
	}
	plain := func(name, schema string, f func(ctx context.Context, args json.RawMessage) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return f(ctx, r.Params.Arguments)
		})
	}
	const none = `{"type": "object"}`
	plain("pid", none, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(os.Getpid()))
	})
	plain("hang", none, func(ctx context.Context, _ json.RawMessage) (*mcp.CallToolResult, error) {
		select { // a server over HTTP need not hear that a call was given up
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
		return text("woken")
	})
	plain("die", none, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		os.Exit(9)
		return nil, nil
	})
	plain("huge", none, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("x", 4<<20))
	})
	plain("long", none, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("x", 5000))
	})
	plain("structured", none, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]int{"n": 1}}, nil
	})
	plain("nested", `{"type": "object", "properties": {"filter": {"type": "object"}, "q": {"type": "string"}}, "required": ["q"]}`,
		func(_ context.Context, args json.RawMessage) (*mcp.CallToolResult, error) { return text(string(args)) })
	if role == "other" {
		plain("extra", none, func(context.Context, json.RawMessage) (*mcp.CallToolResult, error) { return text("") })
	}
	return s
}

// options start this binary in a role.
func options(role string) Options {
	return Options{
		Args: []string{os.Args[0]}, Env: []string{"MCPTOOL_TEST_ROLE=" + role}, Except: []string{"nested"},
		Connect: 10 * time.Second, Call: 5 * time.Second, MessageBytes: 1 << 20, OutputBytes: 1000,
	}
}

func open(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
