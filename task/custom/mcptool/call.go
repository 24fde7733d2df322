package mcptool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/custom/web"
)

// pingTime is how long a server may take to show that it is still there after a call that it did not answer.
const pingTime = 2 * time.Second

// Call calls a tool by the server's own name for it. See the package comment for what comes of it.
func (s *Server) Call(ctx context.Context, name string, args map[string]json.RawMessage) (whale.ToolResult, error) {
	var lost bool
	for {
		live, err := s.session(ctx)
		if err != nil {
			return whale.ToolResult{}, fmt.Errorf("MCP server: %w", err)
		}
		got, err := s.call(ctx, live, name, args)
		if err == nil {
			return s.result(name, got)
		}
		if ctx.Err() != nil {
			return whale.ToolResult{}, ctx.Err()
		}
		// A server over HTTP that was started anew knows nothing of the session, and has not done the call.
		if errors.Is(err, mcp.ErrSessionMissing) && !lost {
			lost = true
			s.drop(live)
			continue
		}
		return s.broken(ctx, live, name, err)
	}
}

// errLate is that a call was not answered in time.
var errLate = errors.New("late")

// call asks once. It returns when the time is over even where the server does not read what is written to it.
func (s *Server) call(ctx context.Context, live *session, name string, args map[string]json.RawMessage) (*mcp.CallToolResult, error) {
	limited, cancel := context.WithTimeoutCause(ctx, s.o.Call, errLate)
	defer cancel()
	got, err := live.CallTool(limited, &mcp.CallToolParams{Name: name, Arguments: arguments(args)})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = context.Cause(limited)
	}
	return got, err
}

// broken says what a call without an answer means.
func (s *Server) broken(ctx context.Context, live *session, name string, err error) (whale.ToolResult, error) {
	incident := func(detail string) (whale.ToolResult, error) {
		return whale.ToolResult{}, &whale.Incident{Reason: whale.FailTool, Detail: s.o.Prefix + name + ": " + detail}
	}
	var word *jsonrpc.Error
	var down *web.Down
	switch {
	case errors.As(err, &down): // before the SDK's word for it, which looks like the server's
		return whale.ToolResult{}, fmt.Errorf("MCP server: %s", down.Detail)
	case errors.Is(err, errLate):
		// It may be busy with this call alone, or hang for everybody.
		pinged, cancel := context.WithTimeout(ctx, pingTime)
		defer cancel()
		if live.Ping(pinged, nil) != nil {
			s.drop(live)
		}
		return incident(fmt.Sprintf("no answer within %v", s.o.Call))
	case errors.As(err, &word) && word.Code == jsonrpc.CodeInternalError:
		return incident("the server broke: " + oneLine(word.Message, 300))
	case errors.As(err, &word):
		return whale.ToolResult{Error: s.o.Prefix + name + ": " + oneLine(word.Message, 300)}, nil
	}
	s.drop(live)
	return incident("the server ended or said what is no answer: " + oneLine(err.Error(), 300))
}

// result translates an answer: its texts, its structure as data, and a word in place of what is neither.
func (s *Server) result(name string, got *mcp.CallToolResult) (whale.ToolResult, error) {
	var parts []string
	for _, c := range got.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, "[an image is left out]")
		case *mcp.AudioContent:
			parts = append(parts, "[a sound is left out]")
		case *mcp.ResourceLink:
			parts = append(parts, "[resource "+oneLine(c.URI, 200)+"]")
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
			} else {
				parts = append(parts, "[a resource is left out]")
			}
		default:
			parts = append(parts, "[something is left out]")
		}
	}
	text := strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD")
	if got.IsError {
		if strings.TrimSpace(text) == "" {
			text = "it failed and did not say why"
		}
		return whale.ToolResult{Error: s.o.Prefix + name + ": " + oneLine(text, 1000)}, nil
	}
	r := whale.ToolResult{}
	if got.StructuredContent != nil {
		data, err := json.Marshal(got.StructuredContent)
		if err != nil {
			return r, fmt.Errorf("MCP server: %s: %w", name, err)
		}
		if len(data) > s.o.OutputBytes {
			return whale.ToolResult{Error: fmt.Sprintf("%s%s: the answer is longer than %d bytes", s.o.Prefix, name, s.o.OutputBytes)}, nil
		}
		r.Data = data
		if text == "" {
			text = string(data)
		}
	}
	if len(text) > s.o.OutputBytes {
		text = strings.ToValidUTF8(text[:s.o.OutputBytes], "") + fmt.Sprintf("\n[cut: the first %d of %d bytes are shown]", s.o.OutputBytes, len(text))
	}
	r.Text = text
	return r, nil
}
