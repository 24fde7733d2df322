package lm

import (
	"fmt"
	"strings"
)

// Family is a line of models that share an arithmetic, by the name that Hugging Face's
// config.json gives it as model_type.
type Family string

// The families that this package computes.
const (
	Llama Family = "llama" // Llama 2 and 3, SmolLM2
	Qwen2 Family = "qwen2" // Qwen 2 and 2.5: bias on queries, keys and values
	Qwen3 Family = "qwen3" // RMSNorm on query and key heads
)

// Families lists the supported families.
func Families() []Family { return []Family{Llama, Qwen2, Qwen3} }

// Family is the line of models that the config belongs to; its features decide.
func (c Config) Family() Family {
	switch {
	case c.QKNorm:
		return Qwen3
	case c.QKVBias:
		return Qwen2
	}
	return Llama
}

// architecture is the name of the family's class in transformers.
func (f Family) architecture() string {
	return strings.ToUpper(string(f[:1])) + string(f[1:]) + "ForCausalLM"
}

// ParseFamily reads a model_type.
func ParseFamily(modelType string) (Family, error) {
	var known []string
	for _, f := range Families() {
		if modelType == string(f) {
			return f, nil
		}
		known = append(known, fmt.Sprintf("%q", string(f)))
	}
	n := len(known) - 1
	return "", fmt.Errorf("got %q, want %s or %s", oneLine(modelType), strings.Join(known[:n], ", "), known[n])
}
