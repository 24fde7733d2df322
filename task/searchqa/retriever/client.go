package retriever

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
)

// Client searches over HTTP. It is safe for many goroutines at once.
type Client struct {
	config Config
	http   *http.Client
	pool   *pool
}

// New makes a client. It connects to nobody yet. Close it.
func New(c Config) (*Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Client{
		config: c,
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:               http.ProxyFromEnvironment,
				MaxIdleConnsPerHost: c.Concurrency,
				IdleConnTimeout:     time.Minute,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		pool: newPool(c),
	}, nil
}

// ID names what is searched.
func (c *Client) ID() whale.ID { return c.config.ID() }

// Close closes idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Search gives the k best passages of a query, best first. An error means that no endpoint answered within the retries.
func (c *Client) Search(ctx context.Context, query string, k int) ([]corpus.Hit, error) {
	if k < 1 || k > MaxTopK {
		return nil, fmt.Errorf("retriever: got %d passages asked for, want 1 to %d", k, MaxTopK)
	}
	if len(query) > MaxQuery {
		return nil, fmt.Errorf("retriever: got a query of %d bytes, want at most %d", len(query), MaxQuery)
	}
	scores := true
	body, err := json.Marshal(request{Queries: []string{query}, TopK: &k, ReturnScores: &scores})
	if err != nil {
		return nil, fmt.Errorf("retriever: %w", err)
	}
	pause, avoid := seconds(c.config.PauseSeconds), ""
	for attempt := 0; ; attempt++ {
		e, err := c.endpoint(ctx, avoid)
		if err != nil {
			return nil, err
		}
		hits, again, err := c.ask(ctx, e, body, k)
		if err == nil {
			return hits, nil
		}
		if cause := ctx.Err(); cause != nil {
			return nil, cause
		}
		if !again || attempt == c.config.Retries {
			return nil, fmt.Errorf("retriever: %s: %w (attempt %d of %d)", e.url, err, attempt+1, c.config.Retries+1)
		}
		avoid = e.url
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		pause = min(2*pause, maxPause*time.Second)
	}
}

// endpoint waits for an endpoint that is free.
func (c *Client) endpoint(ctx context.Context, avoid string) (*endpoint, error) {
	for {
		e, wake, wait := c.pool.take(time.Now(), avoid)
		if e != nil {
			return e, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

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

// ask makes one attempt. again says whether another one may help.
func (c *Client) ask(ctx context.Context, e *endpoint, body []byte, k int) (hits []corpus.Hit, again bool, err error) {
	o := unknown
	defer func() { c.pool.give(e, time.Now(), o) }()
	attempt, cancel := context.WithTimeout(ctx, seconds(c.config.TimeoutSeconds))
	defer cancel()
	hits, status, err := c.post(attempt, e.url, body, k)
	switch {
	case err == nil:
		o = worked
		return hits, false, nil
	case ctx.Err() != nil: // the caller gave up
		return nil, false, err
	case attempt.Err() != nil:
		o = failed
		return nil, true, fmt.Errorf("got no answer within %v s", c.config.TimeoutSeconds)
	case status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout:
		o = worked // it is there; it is the request that it does not take, and would not elsewhere
		return nil, false, err
	}
	o = failed
	return nil, true, err
}

func (c *Client) post(ctx context.Context, address string, body []byte, k int) ([]corpus.Hit, int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, 0, withoutURL(err)
	}
	defer resp.Body.Close()
	answer, err := readBounded(resp.Body, c.config.MaxBytes)
	if err != nil {
		return nil, resp.StatusCode, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, resp.StatusCode, fmt.Errorf("got status %d: %s", resp.StatusCode, oneLine(answer))
	}
	hits, err := parseResult(answer, k)
	if err != nil {
		return nil, 0, err
	}
	return hits, http.StatusOK, nil
}

// withoutURL takes the address off an error of net/http: it is told once already.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// oneLine makes a text from outside fit for a line of a message.
func oneLine(b []byte) string {
	const most = 200
	if len(b) > 4*most {
		b = b[:4*most]
	}
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "\uFFFD")), " ")
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
