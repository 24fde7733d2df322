package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client talks to one model of one endpoint. It is safe for many goroutines at once.
type Client struct {
	config   Config
	endpoint string
	key      string
	http     *http.Client
	places   chan struct{}
}

// New makes a client; getenv reads the environment. It connects to nobody yet. Close it.
func New(c Config, getenv func(name string) string) (*Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	key := ""
	if c.KeyEnv != "" {
		if key = strings.TrimSpace(getenv(c.KeyEnv)); key == "" {
			return nil, fmt.Errorf("key_env: got no key in the environment variable %s", c.KeyEnv)
		}
		if strings.ContainsFunc(key, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
			return nil, fmt.Errorf("key_env: got a key in %s with spaces or characters that no key has", c.KeyEnv)
		}
	}
	return &Client{
		config:   c,
		endpoint: strings.TrimRight(c.BaseURL, "/") + "/chat/completions",
		key:      key,
		http: &http.Client{
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: c.Concurrency, IdleConnTimeout: time.Minute},
			// A redirect would take the key and the prompt to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		places: make(chan struct{}, c.Concurrency),
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Ask gives the model's reply to a prompt, at temperature 0.
func (c *Client) Ask(ctx context.Context, prompt string) (string, error) {
	r, err := c.Chat(ctx, Request{Messages: []Message{{Role: "user", Content: prompt}}})
	return r.Text, err
}

// Chat gives a completion. An error is an [*Error], or the context's.
func (c *Client) Chat(ctx context.Context, r Request) (Reply, error) {
	out := chatRequest{
		Model: c.config.Model, Messages: r.Messages, Temperature: r.Temperature, TopP: r.TopP, MaxTokens: r.MaxTokens, Seed: r.Seed, Stop: r.Stop,
	}
	if out.MaxTokens == 0 {
		out.MaxTokens = c.config.MaxTokens
	}
	body, err := json.Marshal(out)
	if err != nil {
		return Reply{}, fmt.Errorf("openai: %w", err)
	}
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	pause, longest := seconds(c.config.PauseSeconds), seconds(c.config.MaxWaitSeconds)
	for attempt := 1; ; attempt++ {
		reply, fault := c.attempt(ctx, body)
		if fault == nil {
			return reply, nil
		}
		if err := ctx.Err(); err != nil {
			return Reply{}, err
		}
		fault.Endpoint, fault.Attempts = c.endpoint, attempt
		wait := min(pause, longest)
		if fault.after != nil {
			wait = *fault.after
		}
		if !fault.again || attempt > c.config.Retries {
			return Reply{}, fault
		}
		if wait > longest {
			fault.Message += fmt.Sprintf("; it asks for a pause of %v, which is more than %v", wait, longest)
			return Reply{}, fault
		}
		if err := sleep(ctx, wait); err != nil {
			return Reply{}, err
		}
		pause *= 2
	}
}

// attempt makes one request.
func (c *Client) attempt(ctx context.Context, body []byte) (Reply, *Error) {
	ctx, cancel := context.WithTimeout(ctx, seconds(c.config.TimeoutSeconds))
	defer cancel()
	late := func(err error) *Error {
		if ctx.Err() != nil {
			return &Error{Message: fmt.Sprintf("got no answer within %v s", c.config.TimeoutSeconds), again: true}
		}
		return &Error{Message: oneLine(c.withoutKey(withoutURL(err).Error())), again: true}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return Reply{}, &Error{Message: oneLine(err.Error())}
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Reply{}, late(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, c.config.ReplyBytes+1))
	if err != nil {
		return Reply{}, late(err)
	}
	if resp.StatusCode != http.StatusOK {
		return Reply{}, refused(resp, answer, time.Now(), c.withoutKey)
	}
	if int64(len(answer)) > c.config.ReplyBytes {
		return Reply{}, &Error{Status: resp.StatusCode, Message: fmt.Sprintf("got an answer of more than %d bytes", c.config.ReplyBytes)}
	}
	reply, err := parse(answer)
	if err != nil {
		return Reply{}, &Error{Status: resp.StatusCode, Message: oneLine(c.withoutKey(err.Error())), again: true}
	}
	return reply, nil
}

// withoutKey hides the key in what a server says.
func (c *Client) withoutKey(s string) string {
	if c.key == "" {
		return s
	}
	return strings.ReplaceAll(s, c.key, "[key]")
}

// withoutURL takes the address off an error of net/http: it is told once already.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
