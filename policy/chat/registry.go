package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale/strictyaml"
)

// Templates lists all templates.
func Templates() []*Template {
	return []*Template{Whale(), chatML(), smolLM2(), qwen25(), qwen3(), qwen35(), llama3(), llama31(), llama32()}
}

// Names lists the names of all templates.
func Names() []string {
	var names []string
	for _, t := range Templates() {
		names = append(names, t.Name)
	}
	return names
}

// ByName gives the template of that name, or of that name and revision.
func ByName(name string) (*Template, error) {
	for _, t := range Templates() {
		if name == t.Name || name == t.ID() {
			return t, nil
		}
	}
	near := ""
	if n := strictyaml.Nearest(name, Names()); n != "" {
		near = fmt.Sprintf(": did you mean %q?", n)
	}
	return nil, fmt.Errorf("chat template: got %.60q, want %s%s", name, strings.Join(Names(), ", "), near)
}

// Fingerprint identifies a Jinja text: the SHA-256, in hex, after line ends are made \n and the one at the end, which Jinja drops, is left
// out.
func Fingerprint(jinja string) string {
	jinja = strings.ReplaceAll(jinja, "\r\n", "\n")
	jinja = strings.ReplaceAll(jinja, "\r", "\n")
	sum := sha256.Sum256([]byte(strings.TrimSuffix(jinja, "\n")))
	return hex.EncodeToString(sum[:])
}

// UnknownError is a chat template that no twin stands for.
type UnknownError struct{ Fingerprint string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("chat template: got one with the fingerprint %s, which is none of those known; if it renders as one of %s does, name that one (policy.template in a config, --template of a command)",
		e.Fingerprint, strings.Join(Names(), ", "))
}

// Identify gives the template that stands for a Jinja text, else an [*UnknownError].
func Identify(jinja string) (*Template, error) {
	print := Fingerprint(jinja)
	for _, t := range Templates() {
		if slices.Contains(t.Fingerprints, print) {
			return t, nil
		}
	}
	return nil, &UnknownError{print}
}
