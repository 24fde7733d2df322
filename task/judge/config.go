package judge

import (
	"fmt"
	"net/url"
	"strings"
)

// Config says who judges, and within which bounds. Start from DefaultConfig.
type Config struct {
	BaseURL        string  `json:"base_url" yaml:"base_url"`               // of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1
	Model          string  `json:"model" yaml:"model"`                     // as the endpoint calls it
	KeyEnv         string  `json:"key_env" yaml:"key_env"`                 // the environment variable with the key; "" = no key
	TimeoutSeconds float64 `json:"timeout_seconds" yaml:"timeout_seconds"` // of one attempt
	Retries        int     `json:"retries" yaml:"retries"`                 // attempts after the first
	ReplyTokens    int     `json:"reply_tokens" yaml:"reply_tokens"`       // what the judge may write
	AnswerChars    int     `json:"answer_chars" yaml:"answer_chars"`       // of the answer that it reads; the rest is cut off
	CacheFile      string  `json:"cache_file" yaml:"cache_file"`           // keeps judgements from run to run; "" = in memory alone
}

// DefaultConfig has no endpoint and no model: those must be named.
func DefaultConfig() Config {
	return Config{TimeoutSeconds: 60, Retries: 4, ReplyTokens: 512, AnswerChars: 400}
}

// Validate reports what is missing or out of range. Errors begin with the key.
func (c Config) Validate() error {
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("base_url: got %q, want an address such as http://127.0.0.1:8000/v1", c.BaseURL)
	case strings.TrimSpace(c.Model) == "":
		return fmt.Errorf("model: got none, want the name that the endpoint knows")
	case strings.ContainsAny(c.KeyEnv, "= \n"):
		return fmt.Errorf("key_env: got %q, want the name of an environment variable", c.KeyEnv)
	case !(c.TimeoutSeconds > 0 && c.TimeoutSeconds <= 3600):
		return fmt.Errorf("timeout_seconds: got %v, want more than 0, at most 3600", c.TimeoutSeconds)
	case c.Retries < 0 || c.Retries > 20:
		return fmt.Errorf("retries: got %d, want 0 to 20", c.Retries)
	case c.ReplyTokens < 1 || c.ReplyTokens > 100_000:
		return fmt.Errorf("reply_tokens: got %d, want 1 to 100000", c.ReplyTokens)
	case c.AnswerChars < 1 || c.AnswerChars > 100_000:
		return fmt.Errorf("answer_chars: got %d, want 1 to 100000", c.AnswerChars)
	}
	return nil
}
