package star

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// The bounds of a value that crosses between program and host. Starlark values can share parts, so that a small value may write out
// to an endless text; hence the bound on bytes.
const (
	maxNesting   = 64
	maxJSONBytes = 1 << 20
	maxDigits    = 1000 // of one number
)

// fromJSON makes a Starlark value. Objects keep the order of their text; a repeated key keeps its last value.
func fromJSON(data json.RawMessage) (starlark.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := decodeValue(dec, maxNesting)
	if err != nil {
		return nil, fmt.Errorf("json: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("json: got more after the value")
	}
	return v, nil
}

func decodeValue(dec *json.Decoder, depth int) (starlark.Value, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case nil:
		return starlark.None, nil
	case bool:
		return starlark.Bool(t), nil
	case string:
		return starlark.String(t), nil
	case json.Number:
		return number(string(t))
	}
	if depth == 0 {
		return nil, fmt.Errorf("nested deeper than %d", maxNesting)
	}
	if tok == json.Delim('[') {
		list := starlark.NewList(nil)
		for dec.More() {
			v, err := decodeValue(dec, depth-1)
			if err != nil {
				return nil, err
			}
			if err := list.Append(v); err != nil {
				return nil, err
			}
		}
		_, err = dec.Token()
		return list, err
	}
	dict := starlark.NewDict(0)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeValue(dec, depth-1)
		if err != nil {
			return nil, err
		}
		if err := dict.SetKey(starlark.String(key.(string)), v); err != nil {
			return nil, err
		}
	}
	_, err = dec.Token()
	return dict, err
}

func number(s string) (starlark.Value, error) {
	if len(s) > maxDigits {
		return nil, fmt.Errorf("a number of %d characters, want at most %d", len(s), maxDigits)
	}
	if !strings.ContainsAny(s, ".eE") {
		if n, ok := new(big.Int).SetString(s, 10); ok {
			return starlark.MakeBigInt(n), nil
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, err
	}
	return starlark.Float(f), nil
}

// argsDict makes the dict of a tool call's arguments, sorted by name, for a map has no order.
func argsDict(args map[string]json.RawMessage) (*starlark.Dict, error) {
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	slices.Sort(names)
	d := starlark.NewDict(len(args))
	for _, name := range names {
		v, err := fromJSON(args[name])
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", name, err)
		}
		if err := d.SetKey(starlark.String(name), v); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// keywordArgs makes the arguments of a request out of keywords.
func keywordArgs(kwargs []starlark.Tuple) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(kwargs))
	for _, kw := range kwargs {
		name := string(kw[0].(starlark.String))
		data, err := toJSON(kw[1])
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", name, err)
		}
		out[clean(name)] = data
	}
	return out, nil
}

// toJSON writes a value of plain data: None, bool, int, float, string, list, tuple and dict with string keys.
func toJSON(v starlark.Value) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := encodeValue(&b, v, maxNesting); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func encodeValue(b *bytes.Buffer, v starlark.Value, depth int) error {
	if b.Len() > maxJSONBytes {
		return fmt.Errorf("the value is larger than %d bytes of JSON", maxJSONBytes)
	}
	if depth == 0 {
		return fmt.Errorf("the value is nested deeper than %d", maxNesting)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		b.WriteString("null")
	case starlark.Bool:
		fmt.Fprint(b, bool(v))
	case starlark.Int:
		if v.BigInt().BitLen() > 3*maxDigits {
			return fmt.Errorf("an int has more than about %d digits", maxDigits)
		}
		b.WriteString(v.String())
	case starlark.Float:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("got the float %s, want a finite one", v)
		}
		b.WriteString(v.String())
	case starlark.String:
		return encodeString(b, string(v))
	case *starlark.List:
		return encodeList(b, v, v.Len(), depth)
	case starlark.Tuple:
		return encodeList(b, v, v.Len(), depth)
	case *starlark.Dict:
		b.WriteByte('{')
		for i, item := range v.Items() {
			key, ok := item[0].(starlark.String)
			if !ok {
				return fmt.Errorf("got a dict with %s key, want string keys", article(item[0].Type()))
			}
			if i > 0 {
				b.WriteByte(',')
			}
			if err := encodeString(b, string(key)); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := encodeValue(b, item[1], depth-1); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case *reply:
		return errors.New("got a reply, want plain data (its text is reply.text)")
	default:
		return fmt.Errorf("got %s, want plain data (None, bool, int, float, string, list, dict)", v.Type())
	}
	return nil
}

func encodeList(b *bytes.Buffer, list starlark.Indexable, n, depth int) error {
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encodeValue(b, list.Index(i), depth-1); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func encodeString(b *bytes.Buffer, s string) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false) // what a person reads in the evidence is what the program wrote
	if err := enc.Encode(clean(s)); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // Encode ends with a newline
	return nil
}
