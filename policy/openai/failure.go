package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error says that the endpoint gave no completion. Its text is one line, and never holds the key.
type Error struct {
	Endpoint string
	Status   int // of HTTP; 0 where there was no answer
	Attempts int
	Message  string // what the server or the network said

	again bool           // another attempt may help
	after *time.Duration // what the server asks for
}

func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf("status %d: ", e.Status)
	}
	return fmt.Sprintf("openai: %s: %s%s (attempts: %d)", e.Endpoint, status, e.Message, e.Attempts)
}

// refused reads an answer that is no success. hide takes the key out of a text.
func refused(resp *http.Response, body []byte, now time.Time, hide func(string) string) *Error {
	e := &Error{Status: resp.StatusCode, Message: oneLine(hide(serverMessage(body))), after: retryAfter(resp.Header.Get("Retry-After"), now)}
	switch s := resp.StatusCode; {
	case s == http.StatusRequestTimeout || s == http.StatusConflict || s == http.StatusTooEarly || s == http.StatusTooManyRequests || s >= 500:
		e.again = true
	}
	switch resp.Header.Get("X-Should-Retry") { // as OpenAI's own clients read it
	case "true":
		e.again = true
	case "false":
		e.again = false
	}
	return e
}

// serverMessage finds what an error's body says.
func serverMessage(body []byte) string {
	var in struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &in) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		switch {
		case json.Unmarshal(in.Error, &inner) == nil && inner.Message != "":
			return inner.Message
		case in.Message != "":
			return in.Message
		case len(in.Error) > 0 && string(in.Error) != "null":
			return string(in.Error)
		case len(in.Detail) > 0:
			return string(in.Detail)
		}
	}
	if len(body) == 0 {
		return "an empty body"
	}
	return string(body)
}

// retryAfter reads the header of that name: seconds, or a date. nil where there is none that makes sense.
func retryAfter(value string, now time.Time) *time.Duration {
	if value == "" {
		return nil
	}
	var d time.Duration
	if s, err := strconv.ParseFloat(value, 64); err == nil && s >= 0 && s < 1e6 {
		d = time.Duration(s * float64(time.Second))
	} else if at, err := http.ParseTime(value); err == nil {
		d = max(at.Sub(now), 0)
	} else {
		return nil
	}
	return &d
}

// oneLine makes a text from outside fit for a line of a message.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	const most = 300
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
