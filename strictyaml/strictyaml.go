// Package strictyaml reads configuration: unknown keys, duplicate keys and wrong types are errors of one line that name the file, the
// line and column, and the nearest key that exists.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
)

// maxBytes bounds a configuration file.
const maxBytes = 1 << 20

// Decode reads one YAML document into v, a pointer to a struct with yaml tags. Fields that the document does not set keep their values,
// so v holds the defaults.
func Decode(name string, data []byte, v any) error {
	if len(data) > maxBytes {
		return fmt.Errorf("%s: got %d bytes, want at most %d", name, len(data), maxBytes)
	}
	if err := check(name, data, reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	var tree any
	if err := yaml.Unmarshal(data, &tree); err == nil && tree == nil {
		return nil // nothing but comments: decoding it would wipe the defaults
	}
	err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(v)
	if err != nil && !errors.Is(err, io.EOF) {
		return explain(name, err)
	}
	return nil
}

// explain makes one line of the library's error.
func explain(name string, err error) error {
	where, message := name, err.Error()
	var ye yaml.Error
	if errors.As(err, &ye) {
		message = ye.GetMessage()
		if t := ye.GetToken(); t != nil && t.Position != nil {
			where = fmt.Sprintf("%s:%d:%d", name, t.Position.Line, t.Position.Column)
		}
	}
	if i := strings.IndexByte(message, '\n'); i >= 0 {
		message = message[:i]
	}
	return fmt.Errorf("%s: %s", where, message)
}

// Nearest gives the candidate within an edit distance of a third of the word's length (at least 1), or "".
func Nearest(word string, candidates []string) string {
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	best, bestD := "", max(1, len(word)/3)+1
	for _, c := range sorted {
		if d := distance(word, c); d < bestD {
			best, bestD = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
