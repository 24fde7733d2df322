package star

import (
	"fmt"

	"github.com/seed-095d5d2b/whale"
)

// libraryVersion counts changes of what the library's Go functions do that show neither in the catalogue nor in loop.star.
const libraryVersion = 1

// LibraryID is the identity of what programs can call: the catalogue, the source of loop and a version of the rest. A program under another
// library is another harness in all but name.
func LibraryID() whale.ID {
	return whale.HashBytes("library", fmt.Appendf(nil, "%d\n%s\n%s", libraryVersion, Reference(), loopSource))
}
