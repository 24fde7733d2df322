package openai

import (
	"fmt"
	"net/url"
	"strings"
)

// Config says where the endpoint is and how patient the client is. Start from DefaultConfig.
type Config struct {
	BaseURL        string  `json:"base_url" yaml:"base_url"`                 // such as http://127.0.0.1:8000/v1
	Model          string  `json:"model" yaml:"model"`                       // as the endpoint calls it
	KeyEnv         string  `json:"key_env" yaml:"key_env"`                   // the environment variable with the key; "" = no key
	TimeoutSeconds float64 `json:"timeout_seconds" yaml:"timeout_seconds"`   // of one attempt
	Retries        int     `json:"retries" yaml:"retries"`                   // attempts after the first
	PauseSeconds   float64 `json:"pause_seconds" yaml:"pause_seconds"`       // before the first repetition; doubled for each further one
	MaxWaitSeconds float64 `json:"max_wait_seconds" yaml:"max_wait_seconds"` // the longest pause; a server that asks for a longer one has failed
	MaxTokens      int     `json:"max_tokens" yaml:"max_tokens"`             // of a reply, where the request names none
	Concurrency    int     `json:"concurrency" yaml:"concurrency"`           // requests at a time; further ones wait
	ReplyBytes     int64   `json:"reply_bytes" yaml:"reply_bytes"`           // of an answer of the server
}

// DefaultConfig has no endpoint and no model: those must be named.
func DefaultConfig() Config {
	return Config{TimeoutSeconds: 120, Retries: 4, PauseSeconds: 0.5, MaxWaitSeconds: 60, MaxTokens: 1024, Concurrency: 16, ReplyBytes: 4 << 20}
}

// Validate reports what is missing or out of range. Errors begin with the key.
func (c Config) Validate() error {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("base_url: got %q, want an address such as http://127.0.0.1:8000/v1", redacted(c.BaseURL))
	case u.User != nil:
		return fmt.Errorf("base_url: got a name or a password in it, want the key in the environment variable that key_env names")
	case strings.TrimSpace(c.Model) == "":
		return fmt.Errorf("model: got none, want the name that the endpoint knows")
	case strings.ContainsAny(c.KeyEnv, "= \t\n"):
		return fmt.Errorf("key_env: got a text with spaces or an equals sign, want the name of an environment variable")
	case !(c.TimeoutSeconds > 0 && c.TimeoutSeconds <= 86_400):
		return fmt.Errorf("timeout_seconds: got %v, want more than 0, at most 86400", c.TimeoutSeconds)
	case c.Retries < 0 || c.Retries > 100:
		return fmt.Errorf("retries: got %d, want 0 to 100", c.Retries)
	case !(c.MaxWaitSeconds >= 0 && c.MaxWaitSeconds <= 3600):
		return fmt.Errorf("max_wait_seconds: got %v, want 0 to 3600", c.MaxWaitSeconds)
	case !(c.PauseSeconds >= 0 && c.PauseSeconds <= c.MaxWaitSeconds):
		return fmt.Errorf("pause_seconds: got %v, want 0 to max_wait_seconds, which is %v", c.PauseSeconds, c.MaxWaitSeconds)
	case c.MaxTokens < 1 || c.MaxTokens > 1<<24:
		return fmt.Errorf("max_tokens: got %d, want 1 to %d", c.MaxTokens, 1<<24)
	case c.Concurrency < 1 || c.Concurrency > 65_536:
		return fmt.Errorf("concurrency: got %d, want 1 to 65536", c.Concurrency)
	case c.ReplyBytes < 1024 || c.ReplyBytes > 1<<30:
		return fmt.Errorf("reply_bytes: got %d, want 1024 to %d", c.ReplyBytes, 1<<30)
	}
	return nil
}

// redacted hides what may be a password in an address that cannot be parsed.
func redacted(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "...@" + address[at+1:]
	}
	return address
}
