package token

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// object is a JSON object read strictly: every key once, every key known, every
// value one that this package implements. The first fault is kept in err, so that
// a reader can ask for all fields and check once with close.
type object struct {
	where  string // path for errors, like "model.vocab"
	fields map[string]json.RawMessage
	err    error
}

// maxElements bounds the elements of one object or list, so that a file of many
// tiny ones does not take many times its size in memory.
const maxElements = 2 * maxVocab

// readObject splits raw, which must be valid JSON.
func readObject(raw json.RawMessage, where string) *object {
	o := &object{where: where, fields: make(map[string]json.RawMessage)}
	if len(raw) == 0 || raw[0] != '{' {
		o.fail("got %s, want an object", brief(raw))
		return o
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		o.fail("%v", err)
		return o
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			o.fail("%v", err)
			return o
		}
		name, _ := key.(string)
		if _, ok := o.fields[name]; ok {
			o.fail("got the key %.60q twice, want it once", name)
			return o
		}
		if len(o.fields) == maxElements {
			o.fail("got more than %d keys", maxElements)
			return o
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			o.fail("%v", err)
			return o
		}
		o.fields[name] = value
	}
	return o
}

func (o *object) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%s: %s", o.where, fmt.Sprintf(format, args...))
	}
}

// take removes and returns a field; nil where there is none.
func (o *object) take(key string) json.RawMessage {
	raw := o.fields[key]
	delete(o.fields, key)
	return raw
}

// only accepts a field that is absent or one of the given JSON texts, and refuses
// any other value as unsupported.
func (o *object) only(key string, values ...string) {
	raw := o.take(key)
	if raw != nil && !slices.Contains(values, string(raw)) {
		o.fail("unsupported %s: got %s, want %s", key, brief(raw), strings.Join(values, " or "))
	}
}

// text takes a field that must be a string.
func (o *object) text(key string) string {
	var s string
	raw := o.take(key)
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		o.fail("%s: got %s, want a string", key, brief(raw))
	}
	return s
}

// flag takes a boolean field, or absent where there is none.
func (o *object) flag(key string, absent bool) bool {
	switch raw := o.take(key); string(raw) {
	case "":
		return absent
	case "true":
		return true
	case "false":
		return false
	default:
		o.fail("%s: got %s, want true or false", key, brief(raw))
		return absent
	}
}

// list takes a field that must be an array and calls each for its elements.
func (o *object) list(key string, each func(i int, raw json.RawMessage) error) {
	raw := o.take(key)
	if len(raw) == 0 || raw[0] != '[' {
		o.fail("%s: got %s, want a list", key, brief(raw))
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		o.fail("%s: %v", key, err)
		return
	}
	for i := 0; dec.More() && o.err == nil; i++ {
		var element json.RawMessage
		err := dec.Decode(&element)
		switch {
		case err != nil:
		case i == maxElements:
			err = fmt.Errorf("got more than %d elements", maxElements)
		default:
			err = each(i, element)
		}
		if err != nil {
			o.fail("%s[%d]: %v", key, i, err)
		}
	}
}

// close returns the first fault; a field that nobody took is one.
func (o *object) close() error {
	if o.err == nil && len(o.fields) > 0 {
		key := slices.Min(slices.Collect(maps.Keys(o.fields)))
		o.fail("unsupported key %.60q", key)
	}
	return o.err
}

// brief shows a JSON value in an error: on one line and short.
func brief(raw json.RawMessage) string {
	const most = 60
	if raw == nil {
		return "nothing"
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "invalid JSON"
	}
	if b.Len() > most {
		return strings.ToValidUTF8(b.String()[:most], "") + "…"
	}
	return b.String()
}
