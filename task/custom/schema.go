package custom

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	whale "github.com/seed-095d5d2b/whale"
)

// Bounds of what the schema verifier reads.
const (
	schemaBytes = 1 << 20
	jsonBytes   = 256 << 10 // of a reply
)

// nothingElse is a loader of schemas that has none: a schema may not make the verifier read files or ask servers.
type nothingElse struct{}

func (nothingElse) Load(url string) (any, error) {
	return nil, fmt.Errorf("got a reference to %s; a schema may refer to nothing outside itself", clip(url))
}

// openSchema compiles a schema. Drafts are those that the library knows; without $schema it is 2020-12.
func openSchema(name string, data []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothingElse{})
	const url = "whale://task/schema.json"
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema: %s: %w", name, err)
	}
	s, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %s", name, clipTo(err.Error(), 300))
	}
	return s, nil
}

// schemaDecider gives the decision by a schema, and by equality with a reference where that is asked for.
func schemaDecider(s *jsonschema.Schema, equal bool) func(context.Context, judged) (whale.Verdict, error) {
	return func(_ context.Context, j judged) (whale.Verdict, error) {
		no := func(reason string) (whale.Verdict, error) {
			return whale.Verdict{Reason: reason, Metrics: map[string]float64{MetricFormat: 0}}, nil
		}
		if len(j.got) > jsonBytes {
			return no(fmt.Sprintf("JSON of %d bytes, at most %d are read", len(j.got), jsonBytes))
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(j.got))
		if err != nil {
			return no("no valid JSON")
		}
		if !sizedNumbers(value) {
			return no("JSON with a number of too many digits")
		}
		if err := s.Validate(value); err != nil {
			return no("breaks the schema" + where(err))
		}
		if !equal || meets(value, j.ref.Values) {
			return whale.Verdict{Reward: 1}, nil
		}
		return whale.Verdict{Reason: ReasonWrong}, nil
	}
}

// sizedNumbers says whether all numbers can be reckoned with: the library writes out what 1e999999999 stands for.
func sizedNumbers(v any) bool {
	switch v := v.(type) {
	case json.Number:
		const mostDigits, mostExponent = 1000, 400
		mantissa, exponent, _ := strings.Cut(strings.ToLower(v.String()), "e")
		n := 0
		if exponent != "" {
			var err error
			if n, err = strconv.Atoi(exponent); err != nil {
				return false
			}
		}
		return len(mantissa) <= mostDigits && n >= -mostExponent && n <= mostExponent
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !sizedNumbers(e) })
	case map[string]any:
		for _, e := range v {
			if !sizedNumbers(e) {
				return false
			}
		}
	}
	return true
}

// where tells the place in the reply of the first thing that breaks the schema, but not what the schema would want there.
func where(err error) string {
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		return ""
	}
	for len(broken.Causes) > 0 {
		broken = broken.Causes[0]
	}
	return " at /" + clip(strings.Join(broken.InstanceLocation, "/"))
}

// meets says whether a JSON value equals that of any answer field. A field that is a text, as in a CSV file, may hold JSON.
func meets(value any, references map[string]json.RawMessage) bool {
	value = canonical(value)
	for _, raw := range references {
		want, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			continue
		}
		if reflect.DeepEqual(value, canonical(want)) {
			return true
		}
		text, ok := want.(string)
		if !ok {
			continue
		}
		if inner, err := jsonschema.UnmarshalJSON(strings.NewReader(text)); err == nil && reflect.DeepEqual(value, canonical(inner)) {
			return true
		}
	}
	return false
}

// canonical gives every number one form, so that 1.0 equals 1. A number that no float holds stays as it is written.
func canonical(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, err := v.Float64()
		if err != nil {
			return v
		}
		if i := int64(f); float64(i) == f && f < 1<<53 && f > -(1<<53) {
			return i
		}
		return f
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = canonical(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = canonical(e)
		}
		return out
	}
	return v
}

func clipTo(s string, most int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
