package custom

// ToolConfig is a tool, or the tools of an MCP server: exactly one of builtin, command, http and mcp says where it comes from.
type ToolConfig struct {
	Name        string      `yaml:"name"`        // letters, digits, dot, dash and underscore, at most 64; a built-in tool has its own, an MCP server none
	Description string      `yaml:"description"` // for the model; a built-in tool and an MCP server have their own
	Parameters  []Parameter `yaml:"parameters"`  // of a command or an endpoint
	Authored    []string    `yaml:"authored"`    // arguments that must be a span of the model's latest reply; of an MCP server as tool.argument
	Limits      Limits      `yaml:"limits"`

	Builtin string        `yaml:"builtin"` // python, search or calculator
	Search  SearchConfig  `yaml:"search"`  // for builtin search
	Command CommandConfig `yaml:"command"`
	HTTP    HTTPConfig    `yaml:"http"`
	MCP     MCPConfig     `yaml:"mcp"`
}

// The built-in tools.
const (
	BuiltinPython     = "python"     // Limits.Seconds, OutputBytes, MemoryMiB and AtOnce apply
	BuiltinSearch     = "search"     // Limits.Seconds and OutputBytes apply
	BuiltinCalculator = "calculator" // Limits.Seconds and OutputBytes apply
)

// Parameter is an argument of a tool.
type Parameter struct {
	Name        string `yaml:"name"`
	Type        string `yaml:"type"` // string, integer, number or boolean
	Description string `yaml:"description"`
	Optional    bool   `yaml:"optional"`
}

// SearchConfig says what is searched: an index of passages on disk, or servers of the Search-R1 retriever protocol.
type SearchConfig struct {
	Endpoints []string `yaml:"endpoints"` // addresses of servers, among which calls are balanced
	Index     string   `yaml:"index"`     // folder of an index
	TopK      int      `yaml:"top_k"`     // passages of an answer; 0 = 3
}

// The forms of a tool's answer.
const (
	OutputText = "text" // all of it is the text that the agent gets
	OutputJSON = "json" // an object with text, and optionally data, error and done, as the tool's result
)

// CommandConfig is a program of the task's owner, a process a call. It gets JSON on its standard input. Its environment has PATH, HOME, LANG and what env
// names. Exit status 0 stands for an answer; 75, 126 and 127 for trouble of the machine, so that the episode is tried again;
// any other for a mistake of the agent, who is told the last line of the standard error.
type CommandConfig struct {
	Run       []string `yaml:"run"`       // program and arguments; a program with a slash in its name is a file of the folder, where it runs
	Output    string   `yaml:"output"`    // text (if empty) or json
	Env       []string `yaml:"env"`       // names of environment variables to pass on
	Files     []string `yaml:"files"`     // files of the folder that it reads, for the task's identity; files that run names are known
	Sandboxed bool     `yaml:"sandboxed"` // under bubblewrap: no network, no environment but env, only /usr and its files (in /harness), no other processes
}

// HTTPConfig is an endpoint that takes a POST of the arguments as a JSON object. A status of 200 to 299 stands for an answer; 400, 404, 409, 413, 415 and 422 for a
// mistake of the agent, who is told the beginning of the body; others for trouble of the server.
type HTTPConfig struct {
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"` // values may name environment variables, "Bearer ${API_TOKEN}"; secrets must
	Output  string            `yaml:"output"`  // text (if empty) or json
	Retries int               `yaml:"retries"` // when the server is busy, broken or away; within limits.seconds
}

// MCPConfig is a server of the Model Context Protocol, by its command (over stdio) or its URL (streamable HTTP).
type MCPConfig struct {
	Run            []string          `yaml:"run"`             // program and arguments, as of a command
	Env            []string          `yaml:"env"`             // names of environment variables to pass on to it
	Files          []string          `yaml:"files"`           // as of a command
	URL            string            `yaml:"url"`             // of a server over HTTP
	Headers        map[string]string `yaml:"headers"`         // as of http
	Tools          []string          `yaml:"tools"`           // names or patterns (search_*) of the tools to take; empty: all
	Except         []string          `yaml:"except"`          // names or patterns of tools to leave out
	Omit           []string          `yaml:"omit"`            // optional arguments to leave out, as tool.argument
	Prefix         string            `yaml:"prefix"`          // put before the names of its tools
	ConnectSeconds float64           `yaml:"connect_seconds"` // until the server must have told its tools; 0 = 30
	MessageBytes   int               `yaml:"message_bytes"`   // most bytes of one message of the server; 0 = 4 MiB
}
