package custom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/custom/web"
)

// httpTool is an endpoint as a tool.
type httpTool struct {
	spec   whale.ToolSpec
	config HTTPConfig
	limits Limits
	client *http.Client
	free   chan struct{}
}

func openHTTP(t ToolConfig, l Limits, getenv func(string) string) (*httpTool, error) {
	headers, err := web.Headers(t.HTTP.Headers, getenv)
	if err != nil {
		return nil, fmt.Errorf("headers: %w", err)
	}
	headers["Content-Type"] = []string{"application/json"}
	return &httpTool{
		spec: specOf(t), config: t.HTTP, limits: l, free: make(chan struct{}, l.AtOnce),
		client: web.Client(web.Options{Headers: headers, Answer: int64(l.OutputBytes), Retries: t.HTTP.Retries}),
	}, nil
}

func (t *httpTool) Spec() whale.ToolSpec { return t.spec }

// ID covers the address and the names of what is sent, not the values of variables.
func (t *httpTool) ID() whale.ID {
	return whale.HashOf("custom/http", struct {
		HTTP   HTTPConfig
		Limits Limits
	}{t.config, t.limits})
}

// Close drops the idle connections.
func (t *httpTool) Close() error {
	t.client.CloseIdleConnections()
	return nil
}

// Call posts the arguments and takes the body as the answer.
func (t *httpTool) Call(ctx context.Context, args map[string]json.RawMessage) (whale.ToolResult, error) {
	if args == nil {
		args = map[string]json.RawMessage{}
	}
	input, err := json.Marshal(args)
	if err != nil {
		return whale.ToolResult{}, err
	}
	select {
	case t.free <- struct{}{}:
	case <-ctx.Done():
		return whale.ToolResult{}, ctx.Err()
	}
	defer func() { <-t.free }()
	incident := func(detail string) (whale.ToolResult, error) {
		return whale.ToolResult{}, &whale.Incident{Reason: whale.FailTool, Detail: t.spec.Name + ": " + detail}
	}
	limited, cancel := context.WithTimeout(ctx, seconds(t.limits.Seconds))
	defer cancel()
	status, body, err := t.post(limited, input)
	var long *web.TooLong
	var down *web.Down
	switch {
	case ctx.Err() != nil:
		return whale.ToolResult{}, ctx.Err()
	case errors.As(err, &down):
		return whale.ToolResult{}, fmt.Errorf("%s: %s", t.spec.Name, down.Detail)
	case errors.As(err, &long):
	case err != nil && limited.Err() != nil: // it was there, and kept the call waiting
		return incident(fmt.Sprintf("no answer within %g s", t.limits.Seconds))
	case err != nil: // it was there, and broke off
		return incident(clipTo(withoutURL(err).Error(), 300))
	}
	return t.result(status, body, long != nil)
}

// post sends one request.
func (t *httpTool) post(ctx context.Context, input []byte) (status int, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.config.URL, bytes.NewReader(input))
	if err != nil {
		return 0, nil, err
	}
	resp, err := t.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// result says what an answer means by its status.
func (t *httpTool) result(status int, body []byte, cut bool) (whale.ToolResult, error) {
	name := t.spec.Name
	switch {
	case status >= 200 && status < 300 && t.config.Output == OutputJSON && cut:
		return whale.ToolResult{Error: fmt.Sprintf("%s: the answer is longer than %d bytes", name, t.limits.OutputBytes)}, nil
	case status >= 200 && status < 300 && t.config.Output == OutputJSON:
		return readResult(name, body)
	case status >= 200 && status < 300 && cut:
		return whale.ToolResult{Text: cutText(string(body), t.limits.OutputBytes)}, nil
	case status >= 200 && status < 300:
		return whale.ToolResult{Text: plainText(body)}, nil
	case mistake(status):
		return whale.ToolResult{Error: fmt.Sprintf("%s: status %d: %s", name, status, clipTo(string(body), 300))}, nil
	case status == http.StatusInternalServerError: // retries included: the arguments may have broken it
		return whale.ToolResult{}, &whale.Incident{Reason: whale.FailTool, Detail: fmt.Sprintf("%s: status %d: %s", name, status, clipTo(string(body), 300))}
	}
	return whale.ToolResult{}, fmt.Errorf("%s: status %d: %s", name, status, clipTo(string(body), 300))
}

// mistake says whether a status blames the arguments.
func mistake(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// withoutURL drops the address from an error of the client: messages name the tool.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
