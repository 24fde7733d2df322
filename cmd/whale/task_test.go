package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTaskFolder makes a task, checks it, breaks it, and runs an episode of it.
func TestTaskFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	if out := must(t, "task", "new", dir); !strings.Contains(out, filepath.Join(dir, "task.yaml")) {
		t.Errorf("task new: got %q", out)
	}
	if code, _, errs := command(t, "task", "new", dir); code != exitInput || !strings.Contains(errs, "want an empty one or none") {
		t.Errorf("task new on a folder that is there: got %d, %q", code, errs)
	}
	if out := must(t, "task", "check", dir); !strings.Contains(out, "16 reference answers") || !strings.Contains(out, "episode on ") || !strings.HasSuffix(out, "ok\n") {
		t.Errorf("task check: got %q", out)
	}
	if out := must(t, "task", "show", dir, "--split", "test", "--example", "1"); !strings.Contains(out, "example 1 of test") {
		t.Errorf("task show: got %q", out)
	}
	if code, _, errs := command(t, "task", "show", dir, "--example", "99"); code != exitUsage || !strings.Contains(errs, "got example 99") {
		t.Errorf("task show of an example that is not there: got %d, %q", code, errs)
	}
	config := filepath.Join(t.TempDir(), "c.yaml")
	write(t, config, "name: mine\nharness: "+filepath.Join(dir, "h0.star")+"\ntask:\n  kind: custom\n  custom: {folder: "+dir+"}\nlimits: {tokens: 64}\n")
	if out := must(t, "harness", "run", filepath.Join(dir, "h0.star"), "--config", config); !strings.Contains(out, "scored") {
		t.Errorf("an episode: got %q", out)
	}

	rows, err := os.ReadFile(filepath.Join(dir, "data", "test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "data", "test.jsonl"), string(rows)+"{\"question\": \"no answer here\"}\n")
	code, out, errs := command(t, "task", "check", dir)
	if code != exitFindings || errs != "" || !strings.Contains(out, "test.jsonl:row 5") {
		t.Errorf("a bad row: got %d, %q, %q, want %d and the row", code, out, errs, exitFindings)
	}
}

// TestSearchCorpus indexes passages and asks a server for them as a trainer would.
func TestSearchCorpus(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "corpus.jsonl"), `{"id":"1","contents":"\"Blue whale\"\nThe blue whale is the largest animal."}`+"\n"+
		`{"id":"2","contents":"\"Krill\"\nKrill are small crustaceans."}`+"\n")
	index := filepath.Join(dir, "index")
	if out := must(t, "task", "searchqa", "index", filepath.Join(dir, "corpus.jsonl"), "--out", index); !strings.Contains(out, "2 passages") {
		t.Errorf("index: got %q", out)
	}
	if code, _, errs := command(t, "task", "searchqa", "serve", dir); code != exitInput || !strings.Contains(errs, "got no index") {
		t.Errorf("serve of no index: got %d, %q", code, errs)
	}
	cmd := child(t, dir, "", "--json", "task", "searchqa", "serve", index, "--listen", "127.0.0.1:0")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var where struct{ URL string }
	if err := json.Unmarshal([]byte(line), &where); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	resp, err := http.Post(where.URL, "application/json", strings.NewReader(`{"queries":["largest whale"],"topk":1,"return_scores":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(body.String(), "largest animal") || strings.Contains(body.String(), "Krill are") {
		t.Errorf("retrieve: got %s %s, %v", resp.Status, body.String(), err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v, want exit code 0", err)
	}
}
