package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/custom/mcptool"
	"github.com/seed-095d5d2b/whale/task/custom/web"
)

// Defaults of MCPConfig.
const (
	connectTime  = 30 * time.Second
	messageBytes = 4 << 20
)

// openMCP connects to a server and takes its tools.
func (t *Task) openMCP(ctx context.Context, c ToolConfig, l Limits, deps Deps) error {
	o := mcptool.Options{
		Dir: t.folder, URL: c.MCP.URL, Tools: c.MCP.Tools, Except: c.MCP.Except, Omit: c.MCP.Omit, Prefix: c.MCP.Prefix,
		Connect: connectTime, Call: seconds(l.Seconds), MessageBytes: messageBytes, OutputBytes: l.OutputBytes,
	}
	if c.MCP.ConnectSeconds > 0 {
		o.Connect = seconds(c.MCP.ConnectSeconds)
	}
	if c.MCP.MessageBytes > 0 {
		o.MessageBytes = c.MCP.MessageBytes
	}
	var id whale.ID
	if c.MCP.URL != "" {
		headers, err := web.Headers(c.MCP.Headers, deps.Getenv)
		if err != nil {
			return fmt.Errorf("mcp.headers: %w", err)
		}
		o.Headers = http.Header(headers)
		id = whale.HashOf("custom/mcp", struct {
			MCP    MCPConfig
			Limits Limits
		}{c.MCP, l})
	} else {
		cmd := CommandConfig{Run: c.MCP.Run, Env: c.MCP.Env, Files: c.MCP.Files}
		args, files, err := resolve(t.folder, cmd.Run, cmd.Files, deps.Getenv)
		if err != nil {
			return fmt.Errorf("mcp.%w", err)
		}
		if o.Env, err = environment(cmd.Env, false, deps.Getenv); err != nil {
			return fmt.Errorf("mcp.%w", err)
		}
		o.Args = args
		id = whale.HashOf("custom/mcp", struct {
			MCP     MCPConfig
			Command whale.ID
		}{c.MCP, commandID(cmd, l, files)})
	}
	server, err := mcptool.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	t.owns(server)
	free := make(chan struct{}, l.AtOnce)
	authored := map[string][]string{}
	for i, each := range c.Authored {
		tool, argument, ok := cutLast(each, server.Tools())
		if !ok {
			return fmt.Errorf("authored[%d]: got %q, want tool.argument of a tool of the server", i, clip(each))
		}
		authored[tool] = append(authored[tool], argument)
	}
	for _, tool := range server.Tools() {
		if err := t.add(authored[tool.Name], &mcpTool{server: server, tool: tool, id: id, free: free}); err != nil {
			return fmt.Errorf("tool %s: %w", clip(tool.Name), err)
		}
	}
	return nil
}

// cutLast takes tool.argument apart; names of tools may have dots.
func cutLast(s string, tools []mcptool.Tool) (tool, argument string, ok bool) {
	for _, t := range tools {
		if rest, found := strings.CutPrefix(s, t.Name+"."); found && len(t.Name) > len(tool) {
			tool, argument, ok = t.Name, rest, true
		}
	}
	return tool, argument, ok
}

// mcpTool is a tool of a server.
type mcpTool struct {
	server *mcptool.Server
	tool   mcptool.Tool
	id     whale.ID
	free   chan struct{}
}

func (t *mcpTool) Spec() whale.ToolSpec { return t.tool.Spec }

// ID covers the configuration of the server, and the files of the folder that it is started with; what it does is its own.
func (t *mcpTool) ID() whale.ID {
	return whale.HashOf("custom/mcp/tool", []string{string(t.id), t.tool.Name})
}

func (t *mcpTool) Call(ctx context.Context, args map[string]json.RawMessage) (whale.ToolResult, error) {
	select {
	case t.free <- struct{}{}:
	case <-ctx.Done():
		return whale.ToolResult{}, ctx.Err()
	}
	defer func() { <-t.free }()
	return t.server.Call(ctx, t.tool.Name, args)
}
