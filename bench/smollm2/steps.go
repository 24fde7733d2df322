package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// binary is the whale command and the model it works on.
type binary struct{ path, model string }

// spent is the line after each step.
func spent(start time.Time, p *os.ProcessState) {
	fmt.Printf("(%.1f s, %.1f s of CPU, peak memory %d MB)\n", time.Since(start).Seconds(), (p.UserTime() + p.SystemTime()).Seconds(), p.SysUsage().(*syscall.Rusage).Maxrss/1024)
}

// show runs a command whose output is the result.
func (b *binary) show(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, b.path, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("whale %s: %w", strings.Join(args[:2], " "), err)
	}
	spent(start, cmd.ProcessState)
	return nil
}

// chat talks to the model through whale model serve.
func (b *binary) chat(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, b.path, "model", "serve", b.model, "--addr", "127.0.0.1:0", "--json")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if cmd.Wait() == nil {
			spent(start, cmd.ProcessState)
		}
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("whale model serve: no address: %w", err)
	}
	var at struct{ URL string }
	if err := json.Unmarshal(line, &at); err != nil {
		return fmt.Errorf("whale model serve: %w", err)
	}
	for _, q := range []string{"What is the capital of France?", "Name three animals that live in the sea.", "What is 12 + 30?"} {
		if err := ask(ctx, at.URL, q); err != nil {
			return err
		}
	}
	return nil
}

func ask(ctx context.Context, url, question string) error {
	body, err := json.Marshal(map[string]any{
		"messages": []map[string]string{{"role": "user", "content": question}}, "max_tokens": 80, "temperature": 0, "seed": 1,
	})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	start := time.Now()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   struct {
			CompletionTokens int `json:"completion_tokens"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil || len(reply.Choices) != 1 {
		return fmt.Errorf("chat: got status %s and no reply: %w", resp.Status, err)
	}
	n := reply.Usage.CompletionTokens
	fmt.Printf("> %s\n%s\n  [%d tokens, %.1f tokens/s]\n", question, reply.Choices[0].Message.Content, n, float64(n)/time.Since(start).Seconds())
	return nil
}

// train runs the config, and adds tokens a second to what the run prints.
func (b *binary) train(ctx context.Context, config, dir string) error {
	if err := b.show(ctx, "run", config, "--model", b.model, "--dir", dir); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, "report", "summary.json"))
	if err != nil {
		return err
	}
	var s struct {
		Ledger map[string]struct {
			Rollouts      int
			PromptTokens  int     `json:"prompt_tokens"`
			SampledTokens int     `json:"sampled_tokens"`
			Seconds       float64 `json:"seconds"`
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	t := s.Ledger["test"]
	if t.Rollouts == 0 || t.Seconds == 0 {
		return fmt.Errorf("summary: got no evaluation in the ledger, want one")
	}
	fmt.Printf("evaluation: %d episodes, %.0f prompt and %.0f sampled tokens/s, prompts counted whole although most of each is in the cache\n",
		t.Rollouts, float64(t.PromptTokens)/t.Seconds, float64(t.SampledTokens)/t.Seconds)
	return nil
}
