package evolve

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness/star"
	"github.com/seed-095d5d2b/whale/metaharness"
)

const testAbout = "Answer questions about numbers. Put the answer into \\boxed{}. There is a tool that runs code. " +
	`env.render("rules", short = False, lines = 3) gives the rules, env.render("hint") a hint, env.call("calculator", code = …) a result.`

// entry is a program of a test workspace.
type entry struct {
	source       string
	line         metaharness.IndexLine
	trajectories []metaharness.Trajectory
}

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// evaluated is an entry with a score.
func evaluated(source string, mean, delta float64, trajectories []metaharness.Trajectory) entry {
	return entry{source: source, trajectories: trajectories, line: metaharness.IndexLine{
		ID: whale.HarnessID([]byte(source)), Status: metaharness.StatusEvaluated, Mean: &mean, Delta: &delta,
	}}
}

// makeWorkspace writes a workspace of programs, the first of them accepted.
func makeWorkspace(t testing.TB, entries ...entry) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	encode := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data) + "\n"
	}
	var index strings.Builder
	for i, e := range entries {
		e.line.Accepted = i == 0
		index.WriteString(encode(e.line))
		if e.line.Status != metaharness.StatusEvaluated {
			continue
		}
		folder := "harnesses/" + string(e.line.ID) + "/"
		write(folder+"harness.star", e.source)
		var lines strings.Builder
		for _, trajectory := range e.trajectories {
			lines.WriteString(encode(trajectory))
		}
		write(folder+"trajectories.jsonl", lines.String())
	}
	write("index.jsonl", index.String())
	write("library.json", encode(star.Library()))
	write("README.md", "# Harness search\n\n## The task\n\n"+testAbout+"\n\n## What to do\n\nWrite.\n")
	if err := os.Mkdir(filepath.Join(dir, "candidates"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// outOfTurns are episodes that ended right after a tool call.
func outOfTurns(n int) []metaharness.Trajectory {
	var out []metaharness.Trajectory
	for i := range n {
		used := []metaharness.ToolUse{{Name: "calculator", Text: "7"}}
		out = append(out, metaharness.Trajectory{
			Example: i + 1, Reason: "no \\boxed{} in the answer", Answer: 2, Usage: whale.Usage{ModelCalls: 2, ToolCalls: 2},
			Turns: []metaharness.Turn{{N: 1, Reply: "a block", Finish: "stop", Tools: used}, {N: 2, Reply: "a block", Finish: "stop", Tools: used}},
		})
	}
	return out
}

// lackingBox are episodes whose last reply has no box; every fourth has one and is rewarded.
func lackingBox(n int) []metaharness.Trajectory {
	var out []metaharness.Trajectory
	for i := range n {
		trajectory := metaharness.Trajectory{
			Example: i + 1, Reason: "no \\boxed{} in the answer", Answer: 2, Usage: whale.Usage{ModelCalls: 2, ToolCalls: 1},
			Turns: []metaharness.Turn{
				{N: 1, Reply: "a block", Finish: "stop", Tools: []metaharness.ToolUse{{Name: "calculator", Text: "7"}}},
				{N: 2, Reply: "it seems to be that many", Finish: "stop"},
			},
		}
		if i%4 == 0 {
			trajectory.Reward, trajectory.Reason = 1, ""
			trajectory.Turns[1].Reply = fmt.Sprintf("So the result is therefore \\boxed{%d}.\nSincerely yours", i)
		}
		out = append(out, trajectory)
	}
	return out
}

func propose(t testing.TB, dir string, seed uint32, n int) {
	t.Helper()
	proposeWith(t, dir, seed, n, false)
}

func proposeWith(t testing.TB, dir string, seed uint32, n int, promptOnly bool) {
	t.Helper()
	_, err := New().Propose(t.Context(), whale.Session{Workspace: dir, Candidates: n, Seed: seed, PromptOnly: promptOnly})
	if err != nil {
		t.Fatal(err)
	}
}

// written reads the candidates of a workspace: sources and descriptions by name.
func written(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	names, err := filepath.Glob(filepath.Join(dir, "candidates", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = string(data)
	}
	return out
}
