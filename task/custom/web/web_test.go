package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Secrets stand in the environment; no error tells one.
func TestHeaders(t *testing.T) {
	env := map[string]string{"TOKEN": "hush", "BROKEN": "hu\nsh"}
	for _, tc := range []struct{ name, value, want, err string }{
		{"Authorization", "Bearer ${TOKEN}", "Bearer hush", ""},
		{"X-Version", "1", "1", ""},
		{"x-both", "${TOKEN}-${TOKEN}", "hush-hush", ""},
		{"Authorization", "Bearer abc", "", "written out"},
		{"X-Api-Key", "abc", "", "written out"},
		{"Cookie", "abc", "", "written out"},
		{"X-A", "${NOT_SET}", "", "NOT_SET is not set"},
		{"X-A", "${BROKEN}", "", "a line break"},
		{"X-A", "${}", "", "want a name"},
		{"X-A", "a\r\nEvil: b", "", "line breaks"},
		{"X A", "a", "", "the name"},
		{"", "a", "", "the name"},
	} {
		got, err := Headers(map[string]string{tc.name: tc.value}, func(name string) string { return env[name] })
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "hu") {
				t.Errorf("%s: %q: got %v, want %s", tc.name, tc.value, err, tc.err)
			}
			continue
		}
		if err != nil || got.Get(tc.name) != tc.want {
			t.Errorf("%s: %q: got %q (%v), want %q", tc.name, tc.value, got.Get(tc.name), err, tc.want)
		}
	}
}

// An answer may be as long as it may be, and not a byte more.
func TestAnswerBound(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 100)) }))
	defer server.Close()
	for most, fits := range map[int64]bool{99: false, 100: true, 101: true, 0: false} {
		c := Client(Options{Answer: most})
		resp, err := c.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		var long *TooLong
		if fits != (err == nil) || !fits && (!errors.As(err, &long) || int64(len(data)) != most) {
			t.Errorf("%d: got %d bytes, %v, want it to fit: %v", most, len(data), err, fits)
		}
		c.CloseIdleConnections()
	}
}

// A server that asks to wait is waited for, but not longer than the caller does.
func TestRetryAfter(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	c := Client(Options{Answer: 100, Retries: 3})
	defer c.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err == nil {
		resp.Body.Close()
	}
	var down *Down
	if !errors.As(err, &down) || !strings.Contains(down.Detail, "status 429") || calls != 1 {
		t.Errorf("got %v after %d calls, want a busy server after one", err, calls)
	}
}
