package lm

import "container/list"

// kvBuffer holds one sequence's keys and values: for each layer and key head, [room,
// headDim] rotated keys, then values.
type kvBuffer struct {
	room int // tokens
	data []float32
}

// head returns the keys and the values of one head of layer l.
func (b *kvBuffer) head(c Config, l, kv int) (k, v []float32) {
	n := b.room * c.HeadDim
	at := (l*c.KVHeads + kv) * 2 * n
	return b.data[at : at+n], b.data[at+n : at+2*n]
}

// reserve makes room for n tokens, keeping the first used.
func (b *kvBuffer) reserve(c Config, n, used int) {
	if n <= b.room {
		return
	}
	grown := kvBuffer{room: min(max((n+63)/64*64, 2*b.room), c.MaxSeq)}
	grown.data = make([]float32, grown.room*c.kvFloats())
	for l := range c.Layers {
		for kv := range c.KVHeads {
			k, v := b.head(c, l, kv)
			gk, gv := grown.head(c, l, kv)
			copy(gk, k[:used*c.HeadDim])
			copy(gv, v[:used*c.HeadDim])
		}
	}
	*b = grown
}

// kvFloats is the number of key and value floats of one token.
func (c Config) kvFloats() int { return 2 * c.Layers * c.kvDim() }

// blockTokens is the grain of the prefix cache.
const blockTokens = 16

// block holds the keys and values of blockTokens tokens that follow its parent's,
// so that a path from the root is a prefix. The numbers in a block are a function of the
// tokens on its path, to the bit, which is what makes sharing invisible.
type block struct {
	parent *block
	tokens [blockTokens]int32
	kv     kvBuffer
	refs   int           // children, and requests that stand here
	idle   *list.Element // place in the eviction queue while refs is 0
}

type blockKey struct {
	parent *block
	tokens [blockTokens]int32
}

// prefixCache is the tree of blocks, at most limit of them. A block that nobody
// refers to may be evicted, the least recently used first. Not safe for concurrent
// use.
type prefixCache struct {
	cfg    Config
	limit  int
	root   *block
	blocks map[blockKey]*block
	idle   *list.List // of *block, oldest first
	free   []*block   // evicted, memory to be reused
}

func newPrefixCache(c Config, tokens int) *prefixCache {
	return &prefixCache{cfg: c, limit: tokens / blockTokens, root: &block{}, blocks: map[blockKey]*block{}, idle: list.New()}
}

func keyOf(parent *block, tokens []int32) blockKey {
	return blockKey{parent, [blockTokens]int32(tokens)}
}

// find returns the block of the given tokens after parent, nil if there is none.
func (pc *prefixCache) find(key blockKey) *block { return pc.blocks[key] }

// pin keeps a block from eviction until unpin.
func (pc *prefixCache) pin(b *block) {
	b.refs++
	if b.idle != nil {
		pc.idle.Remove(b.idle)
		b.idle = nil
	}
}

func (pc *prefixCache) unpin(b *block) {
	b.refs--
	if b.refs == 0 && b != pc.root {
		b.idle = pc.idle.PushBack(b)
	}
}

// insert copies blockTokens tokens from position pos of kv into a new block and
// returns it, or nil if everything in a full cache is in use. key must not be present
// and its parent must be pinned.
func (pc *prefixCache) insert(key blockKey, kv *kvBuffer, pos int) *block {
	b := pc.fresh()
	if b == nil {
		return nil
	}
	b.parent, b.tokens = key.parent, key.tokens
	copyTokens(pc.cfg, &b.kv, 0, kv, pos)
	pc.pin(b.parent)
	pc.blocks[key] = b
	b.idle = pc.idle.PushBack(b)
	return b
}

// fresh returns a block with memory, evicting one if need be.
func (pc *prefixCache) fresh() *block {
	if len(pc.blocks) >= pc.limit {
		if pc.idle.Len() == 0 {
			return nil
		}
		pc.evict(pc.idle.Front().Value.(*block))
	}
	if n := len(pc.free); n > 0 {
		b := pc.free[n-1]
		pc.free = pc.free[:n-1]
		return b
	}
	return &block{kv: kvBuffer{room: blockTokens, data: make([]float32, blockTokens*pc.cfg.kvFloats())}}
}

func (pc *prefixCache) evict(b *block) {
	pc.idle.Remove(b.idle)
	b.idle = nil
	delete(pc.blocks, blockKey{b.parent, b.tokens})
	pc.unpin(b.parent)
	b.parent = nil
	pc.free = append(pc.free, b)
}

// copyTokens copies the keys and values of blockTokens tokens.
func copyTokens(c Config, dst *kvBuffer, to int, src *kvBuffer, from int) {
	n := blockTokens * c.HeadDim
	for l := range c.Layers {
		for kv := range c.KVHeads {
			dk, dv := dst.head(c, l, kv)
			sk, sv := src.head(c, l, kv)
			copy(dk[to*c.HeadDim:][:n], sk[from*c.HeadDim:])
			copy(dv[to*c.HeadDim:][:n], sv[from*c.HeadDim:])
		}
	}
}
