package python

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
)

// FusionOptions say where a SandboxFusion server is and what a call may cost.
type FusionOptions struct {
	URL            string  `json:"url" yaml:"url"`                         // of the server, without /run_code
	RunSeconds     float64 `json:"run_seconds" yaml:"run_seconds"`         // of the code, kept by the server
	MemoryBytes    int64   `json:"memory_bytes" yaml:"memory_bytes"`       // of the code, kept by the server in whole MiB; 0 = the server's own
	RequestSeconds float64 `json:"request_seconds" yaml:"request_seconds"` // of one request in all, with its wait in the server's queue
	Retries        int     `json:"retries" yaml:"retries"`                 // after a failure of the server or the network
	SourceBytes    int     `json:"source_bytes" yaml:"source_bytes"`       // of the code
	OutputBytes    int     `json:"output_bytes" yaml:"output_bytes"`       // of standard output and of standard error that are kept, each
}

// DefaultFusionOptions leave the address open.
func DefaultFusionOptions() FusionOptions {
	return FusionOptions{RunSeconds: 10, MemoryBytes: 512 << 20, RequestSeconds: 60, Retries: 4, SourceBytes: 64 << 10, OutputBytes: 16 << 10}
}

const maxRetries = 20

// Validate reports options that are out of range, by their keys.
func (o FusionOptions) Validate() error {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("url: got %q, want the address of a SandboxFusion server, as http://127.0.0.1:8080", o.URL)
	case u.User != nil:
		return errors.New("url: got one with a user name, want none: it would be journaled with the config")
	case !(o.RunSeconds > 0 && o.RunSeconds <= maxSeconds):
		return fmt.Errorf("run_seconds: got %v, want more than 0, up to %d", o.RunSeconds, maxSeconds)
	case o.MemoryBytes < 0 || o.MemoryBytes > 0 && o.MemoryBytes < 1<<20:
		return fmt.Errorf("memory_bytes: got %d, want 0 or at least %d", o.MemoryBytes, 1<<20)
	case !(o.RequestSeconds > o.RunSeconds && o.RequestSeconds <= 2*maxSeconds):
		return fmt.Errorf("request_seconds: got %v, want more than run_seconds (%v), up to %d", o.RequestSeconds, o.RunSeconds, 2*maxSeconds)
	case o.Retries < 0 || o.Retries > maxRetries:
		return fmt.Errorf("retries: got %d, want 0 to %d", o.Retries, maxRetries)
	case o.SourceBytes < 1 || o.SourceBytes > maxSource:
		return fmt.Errorf("source_bytes: got %d, want 1 to %d", o.SourceBytes, maxSource)
	case o.OutputBytes < 1 || o.OutputBytes > maxOutput:
		return fmt.Errorf("output_bytes: got %d, want 1 to %d", o.OutputBytes, maxOutput)
	}
	return nil
}

// Fusion runs code on a SandboxFusion server. It may be used from many goroutines.
type Fusion struct {
	options FusionOptions
	client  *http.Client
	slots   *semaphore.Weighted
	wait    time.Duration // before the first retry
}

// NewFusion gives a client of at most so many requests at a time. Close it to end its idle connections.
func NewFusion(o FusionOptions, concurrency int) (*Fusion, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("sandbox_fusion: %w", err)
	}
	if concurrency < 1 {
		return nil, fmt.Errorf("sandbox_fusion: concurrency: got %d, want 1 or more", concurrency)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: concurrency, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 0}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Fusion{options: o, client: client, slots: semaphore.NewWeighted(int64(concurrency)), wait: time.Second}, nil
}

// Close ends idle connections.
func (f *Fusion) Close() { f.client.CloseIdleConnections() }

// Do runs code and gives what it printed and, in a line, what it did wrong.
func (f *Fusion) Do(ctx context.Context, code string) (output, errText string, err error) {
	result, err := f.Run(ctx, code, "")
	return strings.TrimSuffix(result.Text(), "\n"), result.Error, err
}

// fusionRequest and fusionResponse are SandboxFusion's RunCodeRequest and RunCodeResponse, as far as they are used.
type fusionRequest struct {
	Code     string  `json:"code"`
	Language string  `json:"language"`
	Timeout  float64 `json:"run_timeout"`
	MemoryMB int64   `json:"memory_limit_MB"` // -1 = no limit of the request's own
	Stdin    string  `json:"stdin,omitempty"`
}

type fusionResponse struct {
	Status  string `json:"status"` // Success, Failed (the code's), SandboxError (the server's)
	Message string `json:"message"`
	Run     *struct {
		Status     string  `json:"status"` // Finished, TimeLimitExceeded, Error
		ReturnCode *int    `json:"return_code"`
		Stdout     *string `json:"stdout"`
		Stderr     *string `json:"stderr"`
	} `json:"run_result"`
}

// again is a failure after which another try may help.
type again struct {
	err   error
	after time.Duration // what the server asks to wait; 0 = nothing
}

func (a *again) Error() string { return a.err.Error() }
func (a *again) Unwrap() error { return a.err }

// Run runs code with a text as its standard input. The error is the server's, the network's or the context's.
func (f *Fusion) Run(ctx context.Context, code, stdin string) (Result, error) {
	if len(code) > f.options.SourceBytes {
		return Result{Error: fmt.Sprintf("the code has %d bytes, more than %d", len(code), f.options.SourceBytes)}, nil
	}
	request := fusionRequest{Code: strings.ToValidUTF8(code, "\uFFFD"), Language: "python", Timeout: f.options.RunSeconds, MemoryMB: -1, Stdin: strings.ToValidUTF8(stdin, "\uFFFD")}
	if f.options.MemoryBytes > 0 {
		request.MemoryMB = f.options.MemoryBytes >> 20
	}
	body, err := json.Marshal(request)
	if err != nil {
		return Result{}, fmt.Errorf("sandbox_fusion: %w", err)
	}
	wait := f.wait
	for try := 0; ; try++ {
		result, err := f.once(ctx, body)
		var retry *again
		switch {
		case err == nil:
			return result, nil
		case ctx.Err() != nil:
			return Result{}, ctx.Err()
		case !errors.As(err, &retry):
			return Result{}, fmt.Errorf("sandbox_fusion: %s: %w", f.options.URL, err)
		case try == f.options.Retries:
			return Result{}, fmt.Errorf("sandbox_fusion: %s: %w (after %d tries)", f.options.URL, err, try+1)
		}
		pause := time.NewTimer(max(wait, retry.after))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return Result{}, ctx.Err()
		}
		wait = min(2*wait, maxWait)
	}
}

// maxWait bounds the pause between two tries, and what a server may ask for.
const maxWait = 30 * time.Second

// once makes one request.
func (f *Fusion) once(ctx context.Context, body []byte) (Result, error) {
	if err := f.slots.Acquire(ctx, 1); err != nil {
		return Result{}, err
	}
	defer f.slots.Release(1)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(f.options.RequestSeconds*float64(time.Second)))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(f.options.URL, "/")+"/run_code", bytes.NewReader(body))
	if err != nil {
		return Result{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := f.client.Do(req)
	if err != nil {
		return Result{}, &again{err: err}
	}
	defer resp.Body.Close()
	const most = 16 << 20 // of a reply; the server bounds neither output
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return Result{}, &again{err: fmt.Errorf("reply: %w", err)}
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return Result{}, &again{err: fmt.Errorf("got HTTP status %s", resp.Status), after: retryAfter(resp)}
	case resp.StatusCode != http.StatusOK:
		return Result{}, fmt.Errorf("got HTTP status %s: %s", resp.Status, short(string(data)))
	case len(data) > most:
		return Result{Error: fmt.Sprintf("stopped: it prints more than %d bytes", most)}, nil
	}
	return f.read(data)
}

func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, maxSeconds))*time.Second, maxWait)
}

// read reads a reply.
func (f *Fusion) read(data []byte) (Result, error) {
	var r fusionResponse
	if err := json.Unmarshal(data, &r); err != nil {
		return Result{}, fmt.Errorf("reply: %w", err)
	}
	switch {
	case r.Status == "SandboxError":
		return Result{}, &again{err: fmt.Errorf("the server failed: %s", short(r.Message))}
	case r.Status != "Success" && r.Status != "Failed":
		return Result{}, fmt.Errorf("reply: got status %q, want Success, Failed or SandboxError", short(r.Status))
	case r.Run == nil:
		return Result{}, errors.New("reply: got no run_result")
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return cut(*s, f.options.OutputBytes, int64(len(*s)))
	}
	out := Result{Stdout: text(r.Run.Stdout), Stderr: text(r.Run.Stderr)}
	switch {
	case r.Run.Status == "TimeLimitExceeded":
		out.Error = fmt.Sprintf("out of time: more than %g s", f.options.RunSeconds)
	case r.Run.Status != "Finished":
		return Result{}, &again{err: fmt.Errorf("reply: got run status %q", short(r.Run.Status))}
	case r.Run.ReturnCode == nil:
		return Result{}, errors.New("reply: got no return_code")
	case *r.Run.ReturnCode != 0:
		out.Error = failed(*r.Run.ReturnCode, out.Stderr)
	}
	return out, nil
}

func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "..."
	}
	return s
}
