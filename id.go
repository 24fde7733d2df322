package whale

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// ID is a content hash: the first 128 bits of a SHA-256 in lower-case hex (32 characters). Equal IDs mean equal content.
type ID string

// Short is the first eight characters, for people.
func (id ID) Short() string {
	if len(id) <= 8 {
		return string(id)
	}
	return string(id[:8])
}

// HashBytes hashes raw content under a domain ("harness", "weights", …), so that equal bytes of different kinds differ.
func HashBytes(domain string, data []byte) ID {
	h := sha256.New()
	fmt.Fprintf(h, "whale/%s/%d\n", domain, len(data))
	h.Write(data)
	return ID(hex.EncodeToString(h.Sum(nil)[:16]))
}

// HashOf hashes a value by its JSON form (struct fields in declaration order, map keys sorted). It panics on a value that
// JSON cannot express, which is a programming error.
func HashOf(domain string, v any) ID {
	data, err := json.Marshal(v)
	if err != nil {
		panic("whale.HashOf(" + domain + "): " + err.Error())
	}
	return HashBytes(domain, data)
}

// HarnessID is the identity of a Starlark harness: its source bytes under the contract version.
func HarnessID(source []byte) ID {
	return HashBytes(fmt.Sprintf("harness/v%d", ContractVersion), source)
}

// HarnessIDIn is the identity of a harness in any of the languages: the same bytes in two languages are two programs.
func HarnessIDIn(language string, source []byte) ID {
	if language == LanguageStar {
		return HarnessID(source)
	}
	return HashBytes(fmt.Sprintf("harness/v%d/%s", ContractVersion, language), source)
}

// ContractVersion is the version of the harness contract (what a harness may say to its host).
const ContractVersion = 1

// Purpose says why a rollout was made; it is part of its key and of its seed, and the ledger counts by it.
type Purpose string

// The purposes of rollouts.
const (
	PurposeWeight     Purpose = "weight"     // training rollouts of a weight phase
	PurposeSearch     Purpose = "search"     // evaluation of candidates and incumbents in a harness phase
	PurposeCanary     Purpose = "canary"     // trial episodes of a candidate before its evaluation
	PurposeConfirm    Purpose = "confirm"    // fresh evaluation of the best programs of a harness phase, before one is accepted
	PurposeValidation Purpose = "validation" // choice of a reported pair
	PurposeHalves     Purpose = "halves"     // what each half of a cycle brought; nothing is decided from it
	PurposeMatrix     Purpose = "matrix"     // every cycle's weights with every cycle's harness, after a run
	PurposeTest       Purpose = "test"       // the final table and the curves
	PurposeTrial      Purpose = "trial"      // a person looking at single episodes
)

// RolloutKey is what makes two rollouts the same (design: identity is content). A cached result is reused only on an equal key.
type RolloutKey struct {
	Weights  ID      `json:"weights"`
	Harness  ID      `json:"harness"`
	Task     ID      `json:"task"`
	Renderer ID      `json:"renderer"`
	Example  string  `json:"example"`
	Split    Split   `json:"split"`
	Sampling ID      `json:"sampling"` // sampling settings and limits
	Contract int     `json:"contract"`
	RunSeed  uint64  `json:"run_seed"`
	Purpose  Purpose `json:"purpose"`
	Draw     int     `json:"draw"` // how often this example was visited before for this purpose
}

// ID is the content hash of the key.
func (k RolloutKey) ID() ID { return HashOf("rollout", k) }

// Seed derives the rollout's random seed from (run seed, purpose, example, draw) alone, so that candidates and baselines meet
// common random numbers. It is below 2^31, which is what servers accept.
func (k RolloutKey) Seed() uint32 {
	return DeriveSeed(k.RunSeed, string(k.Purpose), k.Example, fmt.Sprint(k.Draw))
}

// DeriveSeed derives a seed below 2^31 from a run seed and a path of names.
func DeriveSeed(runSeed uint64, path ...string) uint32 {
	h := sha256.New()
	fmt.Fprintf(h, "whale/seed/%d", runSeed)
	for _, p := range path {
		fmt.Fprintf(h, "/%d:%s", len(p), p)
	}
	s := h.Sum(nil)
	return (uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])) & 0x7fffffff
}
