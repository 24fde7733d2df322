package retriever

import (
	"fmt"
	"net/url"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// Config says where the servers are and how patient a client is. Start from DefaultConfig.
type Config struct {
	Endpoints      []string `json:"endpoints" yaml:"endpoints"`             // addresses such as http://127.0.0.1:8000/retrieve
	Corpus         string   `json:"corpus" yaml:"corpus"`                   // what they search, in your words; a part of the task's identity, which the protocol cannot tell
	TimeoutSeconds float64  `json:"timeout_seconds" yaml:"timeout_seconds"` // of one attempt
	Retries        int      `json:"retries" yaml:"retries"`                 // attempts after the first
	PauseSeconds   float64  `json:"pause_seconds" yaml:"pause_seconds"`     // before the first repetition; doubled for each further one, at most 30
	Failures       int      `json:"failures" yaml:"failures"`               // in a row, after which an endpoint is left alone
	RestSeconds    float64  `json:"rest_seconds" yaml:"rest_seconds"`       // for so long
	Concurrency    int      `json:"concurrency" yaml:"concurrency"`         // requests at a time to each endpoint
	MaxBytes       int64    `json:"max_bytes" yaml:"max_bytes"`             // of an answer
}

// DefaultConfig has no endpoints and no corpus: those must be named.
func DefaultConfig() Config {
	return Config{TimeoutSeconds: 30, Retries: 5, PauseSeconds: 0.5, Failures: 3, RestSeconds: 10, Concurrency: 16, MaxBytes: 8 << 20}
}

// Validate reports what is missing or out of range. Errors begin with the key.
func (c Config) Validate() error {
	if len(c.Endpoints) == 0 || len(c.Endpoints) > 1000 {
		return fmt.Errorf("endpoints: got %d, want 1 to 1000", len(c.Endpoints))
	}
	seen := make(map[string]bool)
	for i, e := range c.Endpoints {
		u, err := url.Parse(e)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("endpoints[%d]: got %q, want an address such as http://127.0.0.1:8000/retrieve", i, e)
		}
		if seen[e] {
			return fmt.Errorf("endpoints[%d]: got %q twice", i, e)
		}
		seen[e] = true
	}
	switch {
	case strings.TrimSpace(c.Corpus) == "" || len(c.Corpus) > 200:
		return fmt.Errorf("corpus: got %d bytes, want a name for what the endpoints search, such as wiki-18-e5", len(c.Corpus))
	case !(c.TimeoutSeconds > 0 && c.TimeoutSeconds <= 3600):
		return fmt.Errorf("timeout_seconds: got %v, want more than 0, at most 3600", c.TimeoutSeconds)
	case c.Retries < 0 || c.Retries > 100:
		return fmt.Errorf("retries: got %d, want 0 to 100", c.Retries)
	case !(c.PauseSeconds >= 0 && c.PauseSeconds <= maxPause):
		return fmt.Errorf("pause_seconds: got %v, want 0 to %d", c.PauseSeconds, maxPause)
	case c.Failures < 1 || c.Failures > 1000:
		return fmt.Errorf("failures: got %d, want 1 to 1000", c.Failures)
	case !(c.RestSeconds >= 0 && c.RestSeconds <= 3600):
		return fmt.Errorf("rest_seconds: got %v, want 0 to 3600", c.RestSeconds)
	case c.Concurrency < 1 || c.Concurrency > 1024:
		return fmt.Errorf("concurrency: got %d, want 1 to 1024", c.Concurrency)
	case c.MaxBytes < 1024 || c.MaxBytes > 1<<30:
		return fmt.Errorf("max_bytes: got %d, want 1024 to %d", c.MaxBytes, 1<<30)
	}
	return nil
}

// maxPause bounds the pause before a repetition, in seconds.
const maxPause = 30

// ID hashes what is searched. Where the servers are, is not part of it.
func (c Config) ID() whale.ID { return whale.HashOf("retriever/http", []string{c.Corpus}) }
