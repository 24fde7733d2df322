package task

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// Normalize gives the form in which texts are compared: lower case, every run of white space a single space, none at the ends.
// Punctuation stays, since it carries meaning in a sum or a formula.
func Normalize(text string) string {
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}

// Bucket is a named share of the space of texts.
type Bucket struct {
	Name    string
	Percent int
}

// Buckets divide the space of texts. The percentages add up to 100; their order is part of the assignment.
type Buckets []Bucket

// Validate reports buckets that do not divide the whole space.
func (b Buckets) Validate() error {
	sum := 0
	seen := make(map[string]bool, len(b))
	for _, k := range b {
		if k.Name == "" || seen[k.Name] {
			return fmt.Errorf("buckets: got name %q twice or empty, want distinct names", k.Name)
		}
		if k.Percent < 1 {
			return fmt.Errorf("buckets: got %d percent for %q, want at least 1", k.Percent, k.Name)
		}
		seen[k.Name] = true
		sum += k.Percent
	}
	if sum != 100 {
		return fmt.Errorf("buckets: got %d percent in all, want 100", sum)
	}
	return nil
}

// Of gives the name of the bucket that a text belongs to. It depends on the normal form of the text alone.
func (b Buckets) Of(text string) string {
	sum := sha256.Sum256([]byte("whale/split\n" + Normalize(text)))
	at := int(binary.BigEndian.Uint64(sum[:8]) % 100)
	for _, k := range b {
		if at < k.Percent {
			return k.Name
		}
		at -= k.Percent
	}
	return "" // only where the percentages fall short of 100, which Validate reports
}
