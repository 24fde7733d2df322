package recipe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// surveyed is a config of files in a folder of its own, whose harness is the smallest.
func surveyed(t *testing.T, doc string) (Config, Program) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := LoadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	return c, Program{Name: "h0.star", Source: []byte("def run(task, model, env):\n    return model.chat([{\"role\": \"user\", \"content\": task.question}])\n")}
}

const filesTask = "task:\n  kind: math\n  math: {source: files, files: {train: [train.jsonl], test: [test.jsonl]}, draw: {search: 2, seed: 1}}\n"

func TestSurveyWithoutModelAndData(t *testing.T) {
	c, prog := surveyed(t, "policy: {model: nowhere}\n"+filesTask+"  counts: {train: 17917, search: 256, test: 60}\n")
	o, err := Survey(t.Context(), c, prog, Resources{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if o.Counts != (Counts{Train: 17917, Search: 256, Test: 60}) || !strings.Contains(o.Unread, "train.jsonl") {
		t.Errorf("got counts %+v, not read because %q", o.Counts, o.Unread)
	}
	if o.Memory != nil || !strings.Contains(o.ModelAway, "nowhere: no such folder or file") {
		t.Errorf("got memory %v, model away: %q", o.Memory, o.ModelAway)
	}
}

// TestSurveyOfCustomTask: only the data of a task of one's own may be away; its manifest and its verifier are the task.
func TestSurveyOfCustomTask(t *testing.T) {
	const head = "name: own\nabout: questions\ndata: {%s splits: {train: [train.jsonl], search: [search.jsonl], test: [test.jsonl]}}\nview: {question: question}\nanswer: [answer]\n"
	for _, tc := range []struct{ name, manifest, want string }{
		{"no data", fmt.Sprintf(head, "") + "verifier: {kind: exact}\n", ""},
		{"no folder of data", fmt.Sprintf(head, "root_env: WHALE_NO_SUCH_VARIABLE,") + "verifier: {kind: exact}\n", ""},
		{"no harness", fmt.Sprintf(head, "") + "verifier: {kind: exact}\n", "h0.star"},
		{"no manifest", "", "a task is a folder with a task.yaml"},
		{"no schema", fmt.Sprintf(head, "") + "verifier: {kind: json_schema, schema: schema.json}\n", "schema.json"},
		{"no program", fmt.Sprintf(head, "") + "verifier: {kind: command, command: {run: [sh], files: [check.py]}}\n", "check.py"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, prog := surveyed(t, "task:\n  kind: custom\n  custom: {folder: .}\n  counts: {train: 100, search: 20, test: 30}\n")
			files := map[string]string{"h0.star": string(prog.Source), "task.yaml": tc.manifest}
			if tc.manifest == "" {
				delete(files, "task.yaml")
			}
			if tc.name == "no harness" {
				delete(files, "h0.star")
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(filepath.Dir(c.Harness), name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			o, err := Survey(t.Context(), c, prog, Resources{Workers: 1})
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Fatalf("got %v, want it refused for %s", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if o.Counts != (Counts{Train: 100, Search: 20, Test: 30}) || o.Unread == "" {
				t.Errorf("got %+v, want the declared counts, and why", o)
			}
		})
	}
}

// TestSurveyReadsWhatIsHere: the data is read where it lies on the machine, and must be what is declared.
func TestSurveyReadsWhatIsHere(t *testing.T) {
	for _, tc := range []struct{ counts, want string }{
		{"", ""},
		{"  counts: {train: 3, search: 2, test: 2}\n", ""},
		{"  counts: {test: 2}\n", ""},
		{"  counts: {train: 4}\n", "task.counts.train: got 4, and the data has 3"},
		{"  counts: {validation: 1}\n", "task.counts.validation: got 1, and the data has 0"},
	} {
		c, prog := surveyed(t, filesTask+tc.counts)
		for name, n := range map[string]int{"train.jsonl": 5, "test.jsonl": 2} {
			var lines strings.Builder
			for i := range n {
				lines.WriteString(`{"problem": "What is ` + name + strings.Repeat("1", i+1) + ` + 1?", "answer": "2"}` + "\n")
			}
			if err := os.WriteFile(filepath.Join(filepath.Dir(c.Harness), name), []byte(lines.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		o, err := Survey(t.Context(), c, prog, Resources{Workers: 1})
		if tc.want != "" {
			var config *ConfigError
			if err == nil || !strings.Contains(err.Error(), tc.want) || !errors.As(err, &config) {
				t.Errorf("%q: got %v, want a config error with %q", tc.counts, err, tc.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if o.Counts != (Counts{Train: 3, Search: 2, Test: 2}) || o.Unread != "" || o.Memory == nil || o.Memory.Trained == 0 {
			t.Errorf("%q: got %+v", tc.counts, o)
		}
	}
}

func TestSurveyNeedsCounts(t *testing.T) {
	c, prog := surveyed(t, filesTask+"  counts: {train: 4}\n")
	_, err := Survey(t.Context(), c, prog, Resources{Workers: 1})
	var input *InputError
	if err == nil || !errors.As(err, &input) || !strings.Contains(err.Error(), "train.jsonl") || !strings.Contains(err.Error(), "task.counts.search, task.counts.test") {
		t.Errorf("got %v, want the missing file and the keys that would do", err)
	}
}

// TestSurveyRefusesWhatIsBroken: what is on the machine and cannot be used is no reason to plan without it.
func TestSurveyRefusesWhatIsBroken(t *testing.T) {
	declared := filesTask + "  counts: {train: 3, search: 2, test: 2}\n"
	c, prog := surveyed(t, declared)
	dir := filepath.Dir(c.Harness)
	for _, name := range []string{"train.jsonl", "test.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no JSON\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Survey(t.Context(), c, prog, Resources{Workers: 1}); err == nil || !strings.Contains(err.Error(), "train.jsonl") {
		t.Errorf("broken data: got %v", err)
	}
	c, prog = surveyed(t, "policy: {model: empty}\n"+declared)
	if err := os.Mkdir(c.Policy.Model, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Survey(t.Context(), c, prog, Resources{Workers: 1}); err == nil || !strings.Contains(err.Error(), "config.json is missing") {
		t.Errorf("broken model: got %v", err)
	}
	c, _ = surveyed(t, declared)
	if _, err := Survey(t.Context(), c, Program{Name: "h0.star", Source: []byte("x = 1\n")}, Resources{Workers: 1}); err == nil || !strings.Contains(err.Error(), "run") {
		t.Errorf("broken harness: got %v", err)
	}
}

// TestPolicyKinds: a service's model is named as the service names it, and can be planned for; parts to run are refused.
func TestPolicyKinds(t *testing.T) {
	for _, kind := range []string{PolicyOpenAI, PolicyTinker} {
		c, prog := surveyed(t, "policy: {kind: "+kind+", model: Qwen/Qwen3.5-2B}\n")
		if c.Policy.Model != "Qwen/Qwen3.5-2B" {
			t.Errorf("%s: got model %s, want the name as it was", kind, c.Policy.Model)
		}
		o, err := Survey(t.Context(), c, prog, Resources{Workers: 1})
		if err != nil || o.Memory != nil || o.ModelAway != "Qwen/Qwen3.5-2B, of policy.kind "+kind {
			t.Errorf("%s: got %+v, %v", kind, o, err)
		}
		_, err = OpenParts(t.Context(), c, Resources{Workers: 1})
		var input *InputError
		if err == nil || !errors.As(err, &input) || !strings.Contains(err.Error(), "this build has no "+kind+" policy; it has local") {
			t.Errorf("%s: got %v, want a refusal that says what there is", kind, err)
		}
	}
}
