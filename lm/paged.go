package lm

import (
	"sync"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// Attention of sampling: the queries of some new tokens against keys and values that
// lie in blocks. Its sums are the ones of attention.go, to the bit.

// Keys and values are gathered from their blocks before they are multiplied: keys into
// panels of panelTokens, a product as wide as the registers allow, from memory that stays
// in the nearest cache. (A product for each block took twice as long: it waits for its own
// additions.) Sequences that share blocks come one after another, and what the one before
// gathered is not gathered again.
const (
	panelBlocks = 4
	panelTokens = panelBlocks * blockTokens
)

// pagedScratch is the memory of one key head's attention under way.
type pagedScratch struct {
	k      []float32 // [headDim] a new key
	q, out []float32 // [group*rows, headDim]
	probs  []float32 // [group*rows, room]
	tile   []float32 // [group*rows, panelTokens]

	// Gathered, of one head in one step:
	of   gathered
	held []*block  // by place
	kt   []float32 // [panels, headDim, panelTokens]
	v    []float32 // [room, headDim]
}

// gathered says whose keys and values a scratch holds.
type gathered struct{ step, layer, kv int }

// pagedList hands memory to whichever goroutine runs the next piece.
type pagedList struct {
	mu   sync.Mutex
	free []*pagedScratch
}

func (l *pagedList) take() *pagedScratch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		s := l.free[n-1]
		l.free = l.free[:n-1]
		return s
	}
	return &pagedScratch{}
}

func (l *pagedList) put(s *pagedScratch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, s)
}

// forget lets go of blocks that were gathered last.
func (l *pagedList) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.free {
		clear(s.held[:cap(s.held)])
		s.held = s.held[:0]
	}
}

// attend stores the feed's keys and values of one key head and writes the
// attention output of its query heads. The query heads that share a key head are one
// product, [group*rows, room]; room is the keys' number, rounded up to whole blocks, and
// what lies behind the last key counts for nothing.
func (d *decoder) attend(f *feed, of gathered, qkv, att []float32, s *pagedScratch) {
	c, w, kv := d.m.cfg, &d.layers[of.layer], of.kv
	hd, group, rows := c.HeadDim, c.group(), len(f.tokens)
	keys := f.pos + rows
	blocks := f.path[:blocksOf(keys)]
	m, room := group*rows, len(blocks)*blockTokens
	q, out, probs := grow(&s.q, m*hd), grow(&s.out, m*hd), grow(&s.probs, m*room)
	width, scale, k := c.qkvDim(), c.queryScale(), grow(&s.k, hd)
	for i := range rows {
		row, pos := qkv[i*width:(i+1)*width], f.pos+i
		for g := range group {
			d.m.shapeHead(q[(g*rows+i)*hd:][:hd], row[(kv*group+g)*hd:][:hd], w.qNorm, pos, scale)
		}
		d.m.shapeHead(k, row[c.qDim()+kv*hd:][:hd], w.kNorm, pos, 1)
		kt, v := blocks[pos/blockTokens].head(c, of.layer, kv)
		at := pos % blockTokens
		for i, x := range k {
			kt[i*blockTokens+at] = x
		}
		copy(v[at*hd:][:hd], row[c.qDim()+c.kvDim()+kv*hd:])
	}
	s.gather(c, blocks, of)
	clear(s.v[keys*hd : room*hd])
	s.scores(hd, m, room)
	for r := range m {
		row, n := probs[r*room:(r+1)*room], f.pos+r%rows+1
		kernel.Softmax(row[:n])
		clear(row[n:])
	}
	kernel.MatMul(nil, kernel.NN, false, out, probs, s.v, m, hd, room)
	for r := range m {
		copy(att[(r%rows)*c.qDim()+(kv*group+r/rows)*hd:][:hd], out[r*hd:])
	}
}

// gather brings the keys and values of blocks to their places in s.kt and s.v.
func (s *pagedScratch) gather(c Config, blocks []*block, of gathered) {
	hd := c.HeadDim
	if s.of != of {
		s.of, s.held = of, s.held[:0]
	}
	if n := (len(blocks) + panelBlocks - 1) / panelBlocks * panelTokens * hd; n > len(s.kt) {
		s.kt, s.v, s.held = make([]float32, n), make([]float32, n), s.held[:0]
	}
	for i, b := range blocks {
		if i == len(s.held) {
			s.held = append(s.held, nil)
		}
		if s.held[i] == b {
			continue
		}
		s.held[i] = b
		kt, v := b.head(c, of.layer, of.kv)
		to := s.kt[i/panelBlocks*panelTokens*hd+i%panelBlocks*blockTokens:]
		for d := range hd { // through a variable, which spares a call that costs more than the copy
			row := *(*[blockTokens]float32)(kt[d*blockTokens:])
			*(*[blockTokens]float32)(to[d*panelTokens:]) = row
		}
		copy(s.v[i*blockTokens*hd:], v)
	}
}

// scores sets s.probs to the products of the m rows of s.q with room gathered keys.
func (s *pagedScratch) scores(hd, m, room int) {
	tile := grow(&s.tile, m*panelTokens)
	for at := 0; at < room; at += panelTokens {
		kernel.MatMul(nil, kernel.NN, false, tile, s.q, s.kt[at*hd:(at+panelTokens)*hd], m, panelTokens, hd)
		width := min(panelTokens, room-at)
		for r := range m {
			copy(s.probs[r*room+at:][:width], tile[r*panelTokens:])
		}
	}
}
