package openai_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/policy/openai"
	"github.com/seed-095d5d2b/whale/policy/serve"
)

// The client against our own server over the embedded model: a greedy reply is the same each time, and mistakes come back by field.
func TestServedModel(t *testing.T) {
	b, err := local.Open("whale-tiny")
	if err != nil {
		t.Fatal(err)
	}
	p := serve.NewEmbedded(b, lm.GeneratorOptions{MaxBatch: 2, CacheTokens: 1 << 12, MemoryBytes: 64 << 20})
	defer p.Close()
	s, err := serve.New(serve.Model{Name: "whale-tiny", Policy: p, Text: b.Tokenizer, Vocab: b.Tokenizer.Vocab()}, serve.Options{Now: time.Now, Key: "k-123"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	defer server.Close()
	ask := func(model, key string) (string, error) {
		c := openai.DefaultConfig()
		c.BaseURL, c.Model, c.MaxTokens, c.KeyEnv, c.Retries = server.URL+"/v1", model, 24, "KEY", 0
		client, err := openai.New(c, func(string) string { return key })
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		return client.Ask(t.Context(), "What is 12 + 30?")
	}
	first, err := ask("whale-tiny", "k-123")
	if err != nil || strings.TrimSpace(first) == "" {
		t.Fatalf("got %q, %v; want a reply", first, err)
	}
	if second, err := ask("whale-tiny", "k-123"); err != nil || second != first {
		t.Errorf("got %q, %v; want %q again", second, err, first)
	}
	for _, tc := range []struct {
		model, key string
		status     int
	}{{"other", "k-123", 404}, {"whale-tiny", "k-999", 401}} {
		_, err := ask(tc.model, tc.key)
		var e *openai.Error
		if !errors.As(err, &e) || e.Status != tc.status || strings.Contains(err.Error(), tc.key) {
			t.Errorf("model %s: got %v, want status %d without the key", tc.model, err, tc.status)
		}
	}
}
