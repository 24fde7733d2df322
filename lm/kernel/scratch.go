package kernel

import "sync"

// scratch is memory for the length of one call.
type scratch struct {
	floats []float32
	from   *sync.Pool
}

// Two free lists, since a tile's copy and a packed matrix differ in size a
// thousandfold. They spare the collector and hold no state.
var packScratch, tileScratch sync.Pool // of *scratch

// borrow returns n floats of unknown content.
func borrow(from *sync.Pool, n int) *scratch {
	s, _ := from.Get().(*scratch)
	if s == nil {
		s = &scratch{from: from}
	}
	if cap(s.floats) < n {
		s.floats = aligned(n)
	}
	s.floats = s.floats[:n]
	return s
}

func (s *scratch) giveBack() { s.from.Put(s) }
