package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// failure is an error as clients see it.
type failure struct {
	status  int
	kind    string // OpenAI's type
	code    string // OpenAI's code, empty for null
	param   string // the field at fault, empty for null
	message string
}

func (f *failure) Error() string { return f.message }

// refuse is a request that is wrong, or asks for what does not exist: it names the field.
func refuse(param, format string, args ...any) *failure {
	message := fmt.Sprintf(format, args...)
	if param != "" {
		message = param + ": " + message
	}
	return &failure{status: http.StatusBadRequest, kind: "invalid_request_error", param: param, message: message}
}

func (f *failure) MarshalJSON() ([]byte, error) {
	type body struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	b := body{Message: f.message, Type: f.kind}
	if f.param != "" {
		b.Param = &f.param
	}
	if f.code != "" {
		b.Code = &f.code
	}
	return json.Marshal(map[string]body{"error": b})
}

// write answers with the error. What may be repeated later says when; what may not says so to clients that repeat on their own.
func (f *failure) write(w http.ResponseWriter) {
	switch f.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusGatewayTimeout:
		w.Header().Set("X-Should-Retry", "false")
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, f.status, f)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a client that left is no error of ours
}
