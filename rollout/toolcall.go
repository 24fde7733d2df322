package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/seed-095d5d2b/whale"
)

// Bounds on the arguments of a call that a model wrote.
const (
	maxArgumentDepth  = 32
	maxArgumentDigits = 300 // of one number
)

// usable keeps the calls whose arguments every harness runtime can read. Any other stays what it was: text of the reply. What a model writes
// must never look like a failure of the infrastructure.
func usable(calls []whale.ToolCall) []whale.ToolCall {
	var out []whale.ToolCall
	for _, c := range calls {
		ok := c.Name == validText(c.Name)
		for name, raw := range c.Args {
			ok = ok && name == validText(name) && checkArgument(raw) == nil
		}
		if ok {
			out = append(out, c)
		}
	}
	return out
}

// checkArgument reads one JSON value to its end.
func checkArgument(raw json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	depth, values := 0, 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if depth != 0 || values != 1 {
				return errors.New("want one JSON value")
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case json.Delim:
			if t == '[' || t == '{' {
				depth++
			} else {
				depth--
			}
			if depth > maxArgumentDepth {
				return errors.New("nested too deep")
			}
		case json.Number:
			if len(t) > maxArgumentDigits {
				return errors.New("a number is too long")
			}
			if _, err := strconv.ParseFloat(string(t), 64); err != nil {
				return err
			}
		}
		if depth == 0 {
			values++
		}
	}
}
