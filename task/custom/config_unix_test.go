//go:build unix

package custom

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is wrong with a task.yaml is told with its key, and with its place where YAML knows it.
func TestManifestErrors(t *testing.T) {
	for _, tc := range []struct{ yaml, want string }{
		{"verifier: {kind: exact}\nverifer: {}\n", `task.yaml:7:1: unknown key "verifer": did you mean "verifier"?`},
		{"verifier: {kind: exact, patern: x}\n", `task.yaml:6:25: unknown key "patern": did you mean "pattern"?`},
		{"verifier: {kind: normalized}\n", `verifier.kind: got "normalized", want one of exact, normalised`},
		{"verifier: {}\n", `verifier.kind: got ""`},
		{"verifier: {kind: exact, tag: x}\n", "verifier.tag: of no use to kind exact, only to tag"},
		{"verifier: {kind: exact, judge: {model: x}}\n", "verifier.judge: of no use to kind exact"},
		{"verifier: {kind: tag, compare: none}\n", `verifier.compare: got "none"`},
		{"verifier: {kind: tag, tag: '<b>'}\n", "verifier.tag: got"},
		{"verifier: {kind: regex}\n", "verifier.pattern: got 0 bytes"},
		{"verifier: {kind: regex, pattern: '('}\n", "verifier.pattern: error parsing regexp"},
		{"verifier: {kind: json_schema}\n", "verifier.schema: got none"},
		{"verifier: {kind: json_schema, schema: ../s.json}\n", "verifier.schema: got the path"},
		{"verifier: {kind: json_schema, schema: /etc/passwd}\n", "verifier.schema: got the path"},
		{"verifier: {kind: judge}\n", "verifier.judge.base_url"},
		{"verifier: {kind: command}\n", "verifier.command.run: got no program"},
		{"verifier: {kind: command, command: {run: [x], output: text}}\n", "verifier.command.output"},
		{"verifier: {kind: exact}\nid: question\n", `id: got "question", which view.question shows`},
		{"verifier: {kind: exact}\noptional: [question]\n", "optional: got all fields"},
		{"verifier: {kind: exact}\noptional: [qestion]\n", `optional[0]: got "qestion", want one of question: did you mean "question"?`},
		{"verifier: {kind: exact}\nharness: ../h.star\n", "harness: got the path"},
		{"verifier: {kind: exact}\nlimits: {seconds: 0}\n", "limits.seconds: got 0"},
		{"verifier: {kind: exact}\nlimits: {seconds: .nan}\n", "limits.seconds: got NaN"},
		{"verifier: {kind: exact}\nlimits: {memory_mib: 8}\n", "limits.memory_mib: got 8"},
		{"verifier: {kind: exact}\nrules: {fold: [upper]}\n", `rules.fold[0]: got "upper", want one of lower, space`},
		{"verifier: {kind: exact}\nrules: {patterns: [{name: x, regex: 'a*'}]}\n", "matches nothing at all"},
		{"verifier: {kind: exact}\nrules: {patterns: [{name: x, regex: '['}]}\n", "rules.patterns[0].regex"},
		{"verifier: {kind: exact}\ntools: [{}]\n", "tools[0].builtin: got 0 of"},
		{"verifier: {kind: exact}\ntools: [{builtin: pyton}]\n", `tools[0].builtin: got "pyton", want one of python, search, calculator: did you mean "python"?`},
		{"verifier: {kind: exact}\ntools: [{builtin: python, command: {run: [x]}}]\n", "got 2 of builtin"},
		{"verifier: {kind: exact}\ntools: [{builtin: python, name: x}]\n", "tools[0].name"},
		{"verifier: {kind: exact}\ntools: [{builtin: python, search: {top_k: 2}}]\n", "tools[0].search: of use only"},
		{"verifier: {kind: exact}\ntools: [{builtin: search}]\n", "search: want endpoints or an index"},
		{"verifier: {kind: exact}\ntools: [{builtin: search, search: {endpoints: ['ftp://x']}}]\n", "search.endpoints[0]"},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, command: {env: [A]}}]\n", "tools[0].command.run: got no program"},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, command: {run: [a], env: ['A=b']}}]\n", "its value is not written here"},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, command: {run: [a], files: [../b]}}]\n", "command.files[0]: got the path"},
		{"verifier: {kind: exact}\ntools: [{name: 'x y', description: d, command: {run: [a]}}]\n", "tools[0].name"},
		{"verifier: {kind: exact}\ntools: [{name: x, command: {run: [a]}}]\n", "tools[0].description"},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, parameters: [{name: a, type: list}], command: {run: [a]}}]\n", `type: got "list"`},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, parameters: [{name: a, type: string}, {name: a, type: string}], command: {run: [a]}}]\n", "twice"},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, authored: [b], command: {run: [a]}}]\n", `authored[0]: got "b"`},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, http: {url: 'http://me:pw@h/'}}]\n", "want those in headers"},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, http: {url: 'file:///etc/passwd'}}]\n", "http.url"},
		{"verifier: {kind: exact}\ntools: [{name: x, description: d, http: {url: 'http://h/', headers: {Authorization: 'Bearer abc'}}}]\n", "want it from an environment variable"},
		{"verifier: {kind: exact}\ntools: [{mcp: {run: [x], url: 'http://h/'}}]\n", "want run or url"},
		{"verifier: {kind: exact}\ntools: [{mcp: {run: [x], tools: ['[']}}]\n", "mcp.tools[0]"},
		{"verifier: {kind: exact}\ntools: [{mcp: {run: [x], headers: {A: b}}}]\n", "mcp.headers: of no use"},
	} {
		_, err := parseManifest("task.yaml", []byte(head+tc.yaml))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s\ngot  %v\nwant %s", tc.yaml, err, tc.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got an error of several lines: %v", tc.yaml, err)
		}
	}
}

func TestDataErrors(t *testing.T) {
	for _, tc := range []struct{ data, want string }{
		{"{}", "data.splits: got no files"},
		{"{splits: {train: [../x.jsonl]}}", "data.splits.train[0]: got the path"},
		{"{splits: {train: [/etc/passwd]}}", "data.splits.train[0]: got the path"},
		{"{splits: {train: [a.jsonl, a.jsonl]}}", "twice"},
		{"{splits: {dev: [a.jsonl]}}", `unknown key "dev"`},
		{"{divide: {seed: 1}, splits: {train: [a.jsonl]}}", "data.divide.files: got none"},
		{"{divide: {files: [a.jsonl]}}", "neither percent nor counts"},
		{"{divide: {files: [a.jsonl], percent: {train: 60}}}", "got 60 in all, want 100"},
		{"{divide: {files: [a.jsonl], percent: {train: 100}, counts: {test: 1}}}", "want one of them"},
		{"{divide: {files: [a.jsonl], counts: {train: -1}}}", "counts.train: got -1"},
		{"{divide: {files: [a.jsonl], counts: {train: 1}}, splits: {train: [b.jsonl]}}", "got a share for train"},
		{"{splits: {train: [a.jsonl]}, bad_share: 2}", "data.bad_share"},
		{"{splits: {train: [a.jsonl]}, same: fuzzy}", "data.same"},
		{"{splits: {train: [a.jsonl]}, root_env: 'A B'}", "data.root_env"},
		{"{splits: {train: [a.jsonl]}, root_env: A, root: ../x}", "data.root"},
	} {
		yaml := strings.Replace(head, "{splits: {train: [train.jsonl]}}", tc.data, 1) + "verifier: {kind: exact}\n"
		if _, err := parseManifest("task.yaml", []byte(yaml)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.data, err, tc.want)
		}
	}
}

// The agent is not shown the answer, in whatever it stands.
func TestAnswerShown(t *testing.T) {
	for _, tc := range []struct{ view, answer, want string }{
		{"info", "info.answer", "view.q shows"}, {"info", "info", "view.q shows"}, {"p", "p[0].answer", "view.q shows"}, {"info.question", "info.answer", ""}, {"info.q", "info", ""}, {"a", "ab", ""},
	} {
		yaml := strings.Replace(head, "{question: question}", "{q: '"+tc.view+"'}", 1)
		yaml = strings.Replace(yaml, "[answer]", "['"+tc.answer+"']", 1) + "verifier: {kind: exact}\n"
		_, err := parseManifest("task.yaml", []byte(yaml))
		if (tc.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("view %s, answer %s: got %v, want %q", tc.view, tc.answer, err, tc.want)
		}
	}
}

// A folder that is made to do harm is refused, and never waited for.
func TestHostileFolders(t *testing.T) {
	const exact = "verifier: {kind: exact}\n"
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		yaml   string
		damage func(t *testing.T, dir string)
		want   string
	}{
		"no manifest":        {exact, func(t *testing.T, dir string) { remove(t, dir, "task.yaml") }, "a task is a folder with a task.yaml"},
		"manifest is a pipe": {exact, func(t *testing.T, dir string) { remove(t, dir, "task.yaml"); pipe(t, dir, "task.yaml") }, "no regular file"},
		"manifest is huge":   {exact + "# " + strings.Repeat("x", 2<<20), nil, "more than 1048576 bytes"},
		"data is a pipe":     {exact, func(t *testing.T, dir string) { remove(t, dir, "train.jsonl"); pipe(t, dir, "train.jsonl") }, "no regular file"},
		"data is not there":  {exact, func(t *testing.T, dir string) { remove(t, dir, "train.jsonl") }, "train.jsonl: data: not there"},
		"data is a folder": {exact, func(t *testing.T, dir string) {
			remove(t, dir, "train.jsonl")
			os.Mkdir(filepath.Join(dir, "train.jsonl"), 0o755)
		}, "no regular file"},
		"harness is a pipe":   {exact, func(t *testing.T, dir string) { remove(t, dir, "h0.star"); pipe(t, dir, "h0.star") }, "no regular file"},
		"harness leads out":   {exact, func(t *testing.T, dir string) { remove(t, dir, "h0.star"); link(t, outside, dir, "h0.star") }, "h0.star"},
		"schema leads out":    {"verifier: {kind: json_schema, schema: s.json}\n", func(t *testing.T, dir string) { link(t, outside, dir, "s.json") }, "schema"},
		"file leads out":      {"verifier: {kind: command, command: {run: [sh], files: [f]}}\n", func(t *testing.T, dir string) { link(t, outside, dir, "f") }, "files[0]"},
		"unset variable":      {"verifier: {kind: command, command: {run: [sh], env: [NOT_SET_HERE]}}\n", nil, "NOT_SET_HERE is not set"},
		"unknown program":     {"verifier: {kind: command, command: {run: [no-such-program-here]}}\n", nil, "in no folder of PATH"},
		"no builtin":          {exact + "tools: [{builtin: python}]\n", nil, "there is no python here"},
		"no judge":            {"verifier: {kind: judge, judge: {base_url: 'http://h/v1', model: m}}\n", nil, "there is no judge here"},
		"two tools, one name": {exact + "tools: [{name: x, description: d, command: {run: [sh]}}, {name: x, description: d, command: {run: [sh]}}]\n", nil, `two are named "x"`},
	} {
		dir := folder(t, tc.yaml)
		if tc.damage != nil {
			tc.damage(t, dir)
		}
		if _, err := New(t.Context(), Config{Folder: dir}, deps("")); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func pipe(t *testing.T, dir, name string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, dir, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// Whatever task.yaml holds, reading it ends with a manifest that is valid, or with an error of one line.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(head + "verifier: {kind: exact}\n"))
	f.Add([]byte(head + "verifier: {kind: tag, tag: x}\ntools: [{mcp: {run: [x]}}, {builtin: search, search: {index: i}}]\n"))
	f.Add([]byte(head + "verifier: {kind: regex, pattern: 'a(b)'}\nlimits: {seconds: 1e400}\n"))
	f.Add([]byte("data: {divide: {files: [\"\\u0000\"], percent: {train: 100}}}"))
	if example, err := skeleton.ReadFile("skeleton/task.yaml"); err == nil {
		f.Add(example)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest("task.yaml", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("got an error of several lines: %q", err)
			}
			return
		}
		if err := m.Validate(); err != nil {
			t.Errorf("read, but not valid: %v", err)
		}
		if _, err := m.Verifier.resolved().finder(); err != nil {
			t.Errorf("valid, but: %v", err)
		}
	})
}
