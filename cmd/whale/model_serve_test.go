package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveChild starts whale model serve in a process of its own, and gives its address.
func serveChild(t *testing.T, env string, args ...string) (cmd *exec.Cmd, url string, stderr *bytes.Buffer) {
	t.Helper()
	cmd = child(t, t.TempDir(), "", append([]string{"model", "serve"}, args...)...)
	cmd.Env = append(cmd.Env, keyVariable+"="+env)
	stderr = new(bytes.Buffer)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); http.DefaultClient.CloseIdleConnections() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v: %s", err, stderr)
	}
	url, _, _ = strings.Cut(line, " ")
	return cmd, url, stderr
}

func postChat(t *testing.T, url, key string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url+"/chat/completions", strings.NewReader(`{"model":"w","messages":[{"role":"user","content":"What is 12 + 30?"}],"seed":4,"max_tokens":20}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if json.Unmarshal(body, &reply) == nil && len(reply.Choices) == 1 {
		return resp.StatusCode, reply.Choices[0].Message.Content
	}
	return resp.StatusCode, string(body)
}

func TestModelServe(t *testing.T) {
	cmd, url, stderr := serveChild(t, "s3cret", "--addr", "127.0.0.1:0", "--model-name", "w")
	code, first := postChat(t, url, "s3cret")
	if _, second := postChat(t, url, "s3cret"); code != http.StatusOK || first == "" || first != second {
		t.Errorf("chat: got %d %q, then %q", code, first, second)
	}
	if code, _ := postChat(t, url, "wrong"); code != http.StatusUnauthorized {
		t.Errorf("a wrong key: got %d", code)
	}
	start := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || time.Since(start) > 2*time.Second {
		t.Errorf("stopped after %v: %v: %s", time.Since(start), err, stderr)
	}
	if s := stderr.String(); strings.Contains(s, "s3cret") || strings.Contains(s, "warning") || !strings.Contains(s, "  sampled ") {
		t.Errorf("stderr: got %s", s)
	}
}

func TestModelServeWarnsWhereOthersReachIt(t *testing.T) {
	cmd, url, stderr := serveChild(t, "", "--addr", "0.0.0.0:0", "--json")
	var line struct{ URL, Model string }
	if err := json.Unmarshal([]byte(url), &line); err != nil || line.Model != "whale-tiny" || !strings.HasPrefix(line.URL, "http://") {
		t.Errorf("got %s: %v", url, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Count(stderr.String(), "warning: ") != 2 {
		t.Errorf("got %v: %s", err, stderr)
	}
}

func TestModelServeRefusals(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--addr", "8080"}, exitUsage, "want HOST:PORT"},
		{[]string{"--timeout", "-1s"}, exitUsage, "--timeout"},
		{[]string{"--max-batch", "0"}, exitUsage, "--max-batch"},
		{[]string{"a", "b"}, exitUsage, "got 2 arguments"},
		{[]string{"nowhere"}, exitInput, "nowhere"},
		{[]string{"--addr", "256.0.0.1:1"}, exitError, "--addr"},
	} {
		code, _, errs := command(t, append([]string{"model", "serve"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.text) {
			t.Errorf("%v: got %d %s, want %d and …%s…", c.args, code, errs, c.code, c.text)
		}
	}
}
