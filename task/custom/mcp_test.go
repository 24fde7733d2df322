package custom

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	whale "github.com/seed-095d5d2b/whale"
)

type wordArgs struct {
	Word string `json:"word" jsonschema:"the word"`
}

func mcpServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "words", Version: "1"}, nil)
	tool := func(name string, f func(word string) (string, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: name + "s."}, func(_ context.Context, _ *mcp.CallToolRequest, in wordArgs) (*mcp.CallToolResult, any, error) {
			text, err := f(in.Word)
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
		})
	}
	tool("lookup", func(word string) (string, error) {
		if word == "" {
			return "", errors.New("no word")
		}
		return word + " is a word", nil
	})
	tool("linger", func(string) (string, error) { time.Sleep(time.Second); return "", nil })
	tool("secret", func(string) (string, error) { return os.Getenv("CUSTOM_SECRET"), nil })
	return s
}

func serveMCP() int {
	if err := mcpServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

// The tools of a server are those of the task, over stdio and over HTTP.
func TestMCP(t *testing.T) {
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return mcpServer() }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer h.Close()
	seen := map[whale.ID]string{}
	for name, where := range map[string]string{"stdio": "run: [" + os.Args[0] + "], env: [CUSTOM_TEST_ROLE]", "http": "url: '" + h.URL + "'"} {
		yaml := exact + "tools: [{mcp: {" + where + ", prefix: w_, except: [secret]}, authored: [lookup.word], limits: {seconds: 0.5}}]\n"
		dir := folder(t, yaml)
		task := newTask(t, dir, deps("mcp"))
		env, err := task.NewEnv(t.Context(), whale.Example{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		specs := env.Tools()
		if len(specs) != 2 || specs[1].Name != "w_lookup" || !specs[1].Parameters[0].Authored || specs[0].Parameters[0].Authored {
			t.Errorf("%s: got %+v, want w_linger and w_lookup, whose word is authored", name, specs)
		}
		if got, err := env.Call(t.Context(), "w_lookup", raw("word", `"emma"`)); err != nil || got.Text != "emma is a word" {
			t.Errorf("%s: got %+v (%v)", name, got, err)
		}
		if got, err := env.Call(t.Context(), "w_lookup", raw("word", `""`)); err != nil || got.Error != "w_lookup: no word" {
			t.Errorf("%s: a mistake: got %+v (%v)", name, got, err)
		}
		if got, err := env.Call(t.Context(), "w_lookup", raw("wrod", `""`)); err != nil || !strings.Contains(got.Error, `did you mean "word"?`) {
			t.Errorf("%s: another argument: got %+v (%v)", name, got, err)
		}
		var incident *whale.Incident
		if _, err := env.Call(t.Context(), "w_linger", raw("word", `"x"`)); !errors.As(err, &incident) || incident.Reason != whale.FailTool {
			t.Errorf("%s: a slow call: got %v, want an incident", name, err)
		}
		if again := newTask(t, dir, deps("mcp")); again.ID() != task.ID() {
			t.Errorf("%s: opened again it is another task", name)
		}
		seen[task.ID()] = name
	}
	if len(seen) != 2 {
		t.Error("two servers are the same task")
	}
}

func TestMCPErrors(t *testing.T) {
	run := "run: [" + os.Args[0] + "], env: [CUSTOM_TEST_ROLE]"
	for _, tc := range []struct{ role, tool, want string }{
		{"mcp", "{mcp: {" + run + "}, authored: [lookup.wrod]}", `tool lookup: authored[0]: got "wrod"`},
		{"mcp", "{mcp: {" + run + "}, authored: [word]}", `authored[0]: got "word", want tool.argument`},
		{"mcp", "{mcp: {" + run + ", tools: [search]}}", `mcp: "search" meets none of its tools (linger, lookup, secret)`},
		{"mcp", "{mcp: {" + run + "}}, {mcp: {" + run + "}}", `two are named "linger"`},
		{"hang", "{mcp: {" + run + ", connect_seconds: 0.5}}", "mcp: its tools are not known within 500ms"},
		{"mcp", "{mcp: {url: 'http://127.0.0.1:1/', headers: {Authorization: '${CUSTOM_UNSET}'}}}", "mcp.headers: Authorization: the environment variable CUSTOM_UNSET is not set"},
		{"mcp", "{mcp: {url: 'http://127.0.0.1:1/'}}", "mcp: cannot connect"},
	} {
		task, err := New(t.Context(), Config{Folder: folder(t, exact+"tools: ["+tc.tool+"]\n")}, deps(tc.role))
		if err == nil {
			task.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.tool, err, tc.want)
		}
	}
}
