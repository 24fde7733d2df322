package custom

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/task/custom/web"
)

// validate checks a tool without starting anything. Errors begin with the key.
func (t ToolConfig) validate() error {
	sources := 0
	for _, set := range []bool{t.Builtin != "", given(t.Command), given(t.HTTP), given(t.MCP)} {
		if set {
			sources++
		}
	}
	if sources != 1 {
		return fmt.Errorf("builtin: got %d of builtin, command, http and mcp, want exactly one", sources)
	}
	if t.Builtin != BuiltinSearch && given(t.Search) {
		return fmt.Errorf("search: of use only to builtin: search")
	}
	if t.Builtin != "" || given(t.MCP) {
		switch {
		case t.Name != "":
			return fmt.Errorf("name: got %q; built-in tools and MCP servers name their tools", clip(t.Name))
		case t.Description != "":
			return fmt.Errorf("description: built-in tools and MCP servers describe their tools")
		case len(t.Parameters) > 0:
			return fmt.Errorf("parameters: built-in tools and MCP servers have their own")
		}
	} else if err := t.spec(); err != nil {
		return err
	}
	if len(t.Authored) > maxWords {
		return fmt.Errorf("authored: got %d, want at most %d", len(t.Authored), maxWords)
	}
	var err error
	switch {
	case t.Builtin != "":
		err = t.builtin()
	case given(t.Command):
		if err = t.Command.validate(); err != nil {
			err = fmt.Errorf("command.%w", err)
		}
	case given(t.HTTP):
		if err = t.HTTP.validate(); err != nil {
			err = fmt.Errorf("http.%w", err)
		}
	default:
		if err = t.MCP.validate(); err != nil {
			err = fmt.Errorf("mcp.%w", err)
		}
	}
	if err != nil {
		return err
	}
	return t.Limits.validate(true)
}

// spec checks what a command or an endpoint says of itself.
func (t ToolConfig) spec() error {
	switch {
	case !taskName.MatchString(t.Name):
		return fmt.Errorf("name: got %q, want letters, digits, dot, dash and underscore, at most 64", clip(t.Name))
	case strings.TrimSpace(t.Description) == "" || len(t.Description) > maxAbout:
		return fmt.Errorf("description: got %d bytes, want 1 to %d", len(t.Description), maxAbout)
	case len(t.Parameters) > maxFields:
		return fmt.Errorf("parameters: got %d, want at most %d", len(t.Parameters), maxFields)
	}
	var names []string
	for i, p := range t.Parameters {
		switch {
		case !fieldName.MatchString(p.Name):
			return fmt.Errorf("parameters[%d].name: got %q, want letters, digits and underscore", i, clip(p.Name))
		case slices.Contains(names, p.Name):
			return fmt.Errorf("parameters[%d].name: got %q twice", i, p.Name)
		case !slices.Contains(parameterTypes(), p.Type):
			return unknownWord(fmt.Sprintf("parameters[%d].type", i), p.Type, parameterTypes())
		case len(p.Description) > maxAbout:
			return fmt.Errorf("parameters[%d].description: got %d bytes, want at most %d", i, len(p.Description), maxAbout)
		}
		names = append(names, p.Name)
	}
	for i, a := range t.Authored {
		if !slices.Contains(names, a) {
			return unknownWord(fmt.Sprintf("authored[%d]", i), a, names)
		}
	}
	return nil
}

func parameterTypes() []string { return []string{"string", "integer", "number", "boolean"} }

func (t ToolConfig) builtin() error {
	known := []string{BuiltinPython, BuiltinSearch, BuiltinCalculator}
	if !slices.Contains(known, t.Builtin) {
		return unknownWord("builtin", t.Builtin, known)
	}
	if t.Builtin != BuiltinSearch {
		return nil
	}
	s := t.Search
	switch {
	case (len(s.Endpoints) == 0) == (s.Index == ""):
		return fmt.Errorf("search: want endpoints or an index, one of them")
	case len(s.Endpoints) > maxWords:
		return fmt.Errorf("search.endpoints: got %d, want at most %d", len(s.Endpoints), maxWords)
	case s.TopK < 0 || s.TopK > 100:
		return fmt.Errorf("search.top_k: got %d, want 1 to 100", s.TopK)
	}
	for i, e := range s.Endpoints {
		if err := address(e); err != nil {
			return fmt.Errorf("search.endpoints[%d]: %w", i, err)
		}
	}
	return nil
}

func (c CommandConfig) validate() error {
	if c.Output != "" && c.Output != OutputText && c.Output != OutputJSON {
		return unknownWord("output", c.Output, []string{OutputText, OutputJSON})
	}
	return programKeys(c.Run, c.Env, c.Files)
}

// programKeys checks what a command and an MCP server have in common.
func programKeys(run, env, files []string) error {
	switch {
	case len(run) == 0 || run[0] == "":
		return fmt.Errorf("run: got no program")
	case len(run) > maxWords || len(env) > maxWords || len(files) > maxWords:
		return fmt.Errorf("run: got a list of more than %d items", maxWords)
	case strings.Contains(strings.Join(run, ""), "\x00"):
		return fmt.Errorf("run: got a zero byte")
	}
	for i, e := range env {
		if !envName.MatchString(e) {
			return fmt.Errorf("env[%d]: got %q, want the name of an environment variable; its value is not written here", i, clip(e))
		}
	}
	for i, f := range files {
		if err := localPath(f); err != nil {
			return fmt.Errorf("files[%d]: %w", i, err)
		}
	}
	return nil
}

func (h HTTPConfig) validate() error {
	if err := address(h.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if err := web.CheckHeaders(h.Headers); err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	if h.Output != "" && h.Output != OutputText && h.Output != OutputJSON {
		return unknownWord("output", h.Output, []string{OutputText, OutputJSON})
	}
	if h.Retries < 0 || h.Retries > 20 {
		return fmt.Errorf("retries: got %d, want 0 to 20", h.Retries)
	}
	return nil
}

func (c MCPConfig) validate() error {
	switch {
	case (len(c.Run) > 0) == (c.URL != ""):
		return fmt.Errorf("run: want run or url, one of them")
	case c.URL == "" && len(c.Headers) > 0:
		return fmt.Errorf("headers: of no use to a server over stdio")
	case c.URL != "" && len(c.Env)+len(c.Files) > 0:
		return fmt.Errorf("env: env and files are of no use to a server over HTTP")
	case !(c.ConnectSeconds >= 0 && c.ConnectSeconds <= 3600):
		return fmt.Errorf("connect_seconds: got %v, want 0 to 3600", c.ConnectSeconds)
	case c.MessageBytes < 0 || c.MessageBytes > 256<<20:
		return fmt.Errorf("message_bytes: got %d, want 0 to %d", c.MessageBytes, 256<<20)
	case c.Prefix != "" && !taskName.MatchString(c.Prefix):
		return fmt.Errorf("prefix: got %q, want letters, digits, dot, dash and underscore", clip(c.Prefix))
	}
	if err := patterns("tools", c.Tools); err != nil {
		return err
	}
	if err := patterns("except", c.Except); err != nil {
		return err
	}
	if len(c.Omit) > maxWords {
		return fmt.Errorf("omit: got %d, want at most %d", len(c.Omit), maxWords)
	}
	if c.URL != "" {
		if err := address(c.URL); err != nil {
			return fmt.Errorf("url: %w", err)
		}
		if err := web.CheckHeaders(c.Headers); err != nil {
			return fmt.Errorf("headers: %w", err)
		}
		return nil
	}
	return programKeys(c.Run, c.Env, c.Files)
}

// address checks that a text is the address of a server.
func address(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("got %q, want an address such as https://example.org/tool", clip(s))
	}
	if u.User != nil {
		return fmt.Errorf("got an address with a name or password, want those in headers")
	}
	return nil
}

// patterns checks names of tools with wildcards.
func patterns(key string, list []string) error {
	if len(list) > maxWords {
		return fmt.Errorf("%s: got %d, want at most %d", key, len(list), maxWords)
	}
	for i, p := range list {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return fmt.Errorf("%s[%d]: got %q, want a name or a pattern such as search_*", key, i, clip(p))
		}
	}
	return nil
}
