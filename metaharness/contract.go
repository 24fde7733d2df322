package metaharness

import "github.com/seed-095d5d2b/whale/harness/star"

// contractReference is what README.md says of the contract and its library.
func contractReference() string { return star.Reference() }

// libraryJSON is library.json: the library's functions as a table.
func libraryJSON() ([]byte, error) {
	return encode(star.Library(), " ")
}
