package metaharness

import (
	"encoding/json"

	"github.com/seed-095d5d2b/whale/harness/star"
)

// contractReference is what README.md says of the contract and its library.
func contractReference() string { return star.Reference() }

// libraryJSON is library.json: the library's functions as a table.
func libraryJSON() ([]byte, error) {
	data, err := json.MarshalIndent(star.Library(), "", " ")
	return append(data, '\n'), err
}
