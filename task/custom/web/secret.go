package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

var (
	reference  = regexp.MustCompile(`\$\{([^}]*)\}`)
	variable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
)

// secretive are parts of names of headers that carry secrets.
var secretive = []string{"auth", "key", "token", "secret", "cookie", "password", "credential"}

// CheckHeaders reports headers that cannot be sent, or whose secret stands in the configuration: one whose name speaks of a secret must take
// its value from a variable of the environment, as in "Bearer ${API_TOKEN}".
func CheckHeaders(headers map[string]string) error {
	for name, value := range headers {
		if !headerName.MatchString(name) || len(name) > 100 {
			return fmt.Errorf("got the name %q, want letters, digits and dashes", name)
		}
		if strings.ContainsAny(value, "\r\n\x00") || len(value) > 4096 {
			return fmt.Errorf("%s: got a value with line breaks, or longer than 4096 bytes", name)
		}
		found := reference.FindAllStringSubmatch(value, -1)
		for _, m := range found {
			if !variable.MatchString(m[1]) {
				return fmt.Errorf("%s: got the variable %q, want a name as in ${API_TOKEN}", name, m[1])
			}
		}
		if len(found) > 0 {
			continue
		}
		for _, word := range secretive {
			if strings.Contains(strings.ToLower(name), word) {
				return fmt.Errorf("%s: got a value that is written out, want it from an environment variable, as in \"${API_TOKEN}\"", name)
			}
		}
	}
	return nil
}

// Headers fills in the variables. One that is not set is an error; no error tells a value.
func Headers(headers map[string]string, getenv func(string) string) (http.Header, error) {
	if err := CheckHeaders(headers); err != nil {
		return nil, err
	}
	out := make(http.Header, len(headers))
	for name, value := range headers {
		missing := ""
		filled := reference.ReplaceAllStringFunc(value, func(ref string) string {
			key := ref[2 : len(ref)-1]
			v := getenv(key)
			if v == "" {
				missing = key
			}
			return v
		})
		if missing != "" {
			return nil, fmt.Errorf("%s: the environment variable %s is not set", name, missing)
		}
		if strings.ContainsAny(filled, "\r\n\x00") {
			return nil, fmt.Errorf("%s: its environment variable holds a line break", name)
		}
		out[http.CanonicalHeaderKey(name)] = []string{filled}
	}
	return out, nil
}
