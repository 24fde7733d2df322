package lm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// ropeJSON is the object rope_scaling (transformers 4, rope_theta beside it) or
// rope_parameters (transformers 5, rope_theta inside).
type ropeJSON map[string]any

// rotary takes the rotary settings into c. Where both spellings are there they must
// agree.
func (h *hfConfig) rotary(c *Config) error {
	old, theta, err := h.RopeScaling.parse("rope_scaling", c.MaxSeq)
	if err != nil {
		return err
	}
	if theta != 0 {
		c.RopeTheta = theta
	}
	c.RopeScaling = old
	if h.RopeParameters == nil {
		return nil
	}
	scaling, theta, err := h.RopeParameters.parse("rope_parameters", c.MaxSeq)
	if err != nil {
		return err
	}
	if h.RopeScaling != nil && scaling != old {
		return fmt.Errorf("rope_scaling: got other settings than in rope_parameters, want the same or null")
	}
	if theta != 0 {
		c.RopeTheta = theta
	}
	c.RopeScaling = scaling
	return nil
}

// parse reads the object under key; theta is 0 where it does not say.
func (r ropeJSON) parse(key string, maxSeq int) (s RopeScaling, theta float32, err error) {
	if s.Kind, err = r.kind(key); err != nil {
		return s, 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if name == "rope_type" || name == "type" || r[name] == nil {
			continue
		}
		n, ok := r[name].(float64)
		if !ok {
			return s, 0, fmt.Errorf("%s.%s: got %s, want a number", key, oneLine(name), oneLine(fmt.Sprint(r[name])))
		}
		switch {
		case name == "rope_theta" && n > 0:
			theta = float32(n)
		case name == "rope_theta":
			return s, 0, fmt.Errorf("%s.rope_theta: got %g, want a positive number", key, n)
		case name == "partial_rotary_factor" && n == 1:
		case name == "factor" && s.Kind != "":
			s.Factor = n
		case name == "low_freq_factor" && s.Kind == RopeLlama3:
			s.LowFreq = n
		case name == "high_freq_factor" && s.Kind == RopeLlama3:
			s.HighFreq = n
		case name == "original_max_position_embeddings" && s.Kind == RopeLlama3:
			if n != float64(int32(n)) {
				return s, 0, fmt.Errorf("%s.%s: got %g, want a whole number", key, name, n)
			}
			s.OriginalMaxSeq = int(n)
		case name == "original_max_position_embeddings": // linear scaling does not look at it
		default:
			kind := s.Kind
			if kind == "" {
				kind = "default"
			}
			return s, 0, fmt.Errorf("%s.%s: got %g, want no such key beside rope_type %q", key, oneLine(name), n, kind)
		}
	}
	if s.Kind == RopeLlama3 && s.OriginalMaxSeq == 0 {
		s.OriginalMaxSeq = maxSeq
	}
	if err := s.validate(); err != nil {
		return s, 0, fmt.Errorf("%s.%w", key, err)
	}
	return s, theta, nil
}

// kind is the scaling's name, under either of its keys.
func (r ropeJSON) kind(key string) (string, error) {
	name := "rope_type"
	v, ok := r[name]
	if !ok {
		if v, ok = r["type"]; ok {
			name = "type"
		}
	}
	if !ok {
		return "", nil
	}
	switch v {
	case "default":
		return "", nil
	case RopeLinear, RopeLlama3:
		return v.(string), nil
	}
	return "", fmt.Errorf("%s.%s: got %s, want \"default\", %q or %q", key, name, oneLine(fmt.Sprintf("%#v", v)), RopeLinear, RopeLlama3)
}

// encode is the object that transformers 4 and 5 read as rope_scaling; nil, which
// is null, for none.
func (s RopeScaling) encode() ropeJSON {
	if s.Kind == "" {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil { // numbers, finite by validate
		panic(fmt.Sprintf("lm: rotary scaling of a valid config does not encode: %v", err))
	}
	var r ropeJSON
	if err := json.Unmarshal(data, &r); err != nil {
		panic(fmt.Sprintf("lm: rotary scaling of a valid config does not decode: %v", err))
	}
	return r
}
