package lm

import (
	"container/list"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

// blockTokens is the grain in which keys and values are stored and shared.
const blockTokens = kernel.BlockRows

// kvFloats is the number of key and value floats of one token.
func (c Config) kvFloats() int { return 2 * c.Layers * c.kvDim() }

// pageBytes is the memory of one block's keys and values.
func (c Config) pageBytes() int64 { return 4 * blockTokens * int64(c.kvFloats()) }

// blocksOf is the number of blocks that hold n tokens.
func blocksOf(n int) int { return (n + blockTokens - 1) / blockTokens }

// block holds the keys and values of blockTokens consecutive tokens of a sequence. A
// sequence under way is a path of blocks; those that are whole, or will be once a
// prompt is in, hang in the prefix tree, where other sequences that begin with the
// same tokens share them. The numbers in a block are a function of the tokens on its
// path, to the bit, which is what makes sharing invisible.
type block struct {
	kv     []float32 // for each layer and key head: keys [headDim, blockTokens], then values [blockTokens, headDim]
	users  int       // jobs whose path it lies on
	inTree bool

	// In the tree:
	parent *block
	tokens [blockTokens]int32
	ready  bool          // its tokens are computed
	owner  *job          // who computes them; nil if ready, or if the job left
	idle   *list.Element // place in the eviction queue while users is 0
}

// headAt is where in a block's kv the keys and the values of one head of layer l begin.
// Keys are transposed: scores are then a product that reads them in place.
func (c Config) headAt(l, kv int) (keys, values int) {
	n := blockTokens * c.HeadDim
	keys = (l*c.KVHeads + kv) * 2 * n
	return keys, keys + n
}

type blockKey struct {
	parent *block
	tokens [blockTokens]int32
}

func keyOf(parent *block, tokens []int32) blockKey {
	return blockKey{parent, [blockTokens]int32(tokens)}
}

// blockPool is the one bounded store of keys and values, and the prefix tree over it.
// Memory is taken block by block as sequences grow. Blocks that no job uses stay
// for later prompts, at most keep of them, and are evicted the least recently used
// first, children before parents. Not safe for concurrent use.
type blockPool struct {
	cfg    Config
	limit  int // blocks at most
	keep   int // idle blocks at most
	root   *block
	blocks map[blockKey]*block // the tree
	idle   *list.List          // of *block with no users, oldest first; a child comes before its parent
	free   []*block            // memory without content
	made   int                 // blocks that have memory
	used   int                 // blocks that have users
}

func newBlockPool(c Config, limit, keep int) *blockPool {
	return &blockPool{cfg: c, limit: limit, keep: min(keep, limit), root: &block{}, blocks: map[blockKey]*block{}, idle: list.New()}
}

// available is how many blocks take can still hand out.
func (bp *blockPool) available() int { return bp.limit - bp.used }

// take returns a block with one user and unknown content, evicting an idle one if
// need be; nil if all are in use.
func (bp *blockPool) take() *block {
	if len(bp.free) == 0 {
		switch {
		case bp.made < bp.limit:
			bp.made++
			bp.free = append(bp.free, &block{kv: make([]float32, blockTokens*bp.cfg.kvFloats())})
		case bp.idle.Len() > 0:
			bp.evict(bp.idle.Front().Value.(*block))
		default:
			return nil
		}
	}
	b := bp.free[len(bp.free)-1]
	bp.free = bp.free[:len(bp.free)-1]
	b.users = 1
	bp.used++
	return b
}

// hang puts a taken block into the tree; the key must be absent.
func (bp *blockPool) hang(b *block, key blockKey) {
	b.inTree, b.parent, b.tokens = true, key.parent, key.tokens
	bp.blocks[key] = b
}

// use adds a user.
func (bp *blockPool) use(b *block) {
	if b.users++; b.users == 1 {
		bp.used++
		bp.idle.Remove(b.idle)
		b.idle = nil
	}
}

// drop takes a user away. A path is dropped from its end to its beginning.
func (bp *blockPool) drop(b *block) {
	if b.users--; b.users > 0 {
		return
	}
	bp.used--
	if !b.ready || !b.inTree {
		bp.recycle(b)
		return
	}
	b.idle = bp.idle.PushBack(b)
	for bp.idle.Len() > bp.keep {
		bp.evict(bp.idle.Front().Value.(*block))
	}
}

func (bp *blockPool) evict(b *block) {
	bp.idle.Remove(b.idle)
	bp.recycle(b)
}

// recycle makes a block that nobody uses a free one.
func (bp *blockPool) recycle(b *block) {
	if b.inTree {
		delete(bp.blocks, blockKey{b.parent, b.tokens})
	}
	*b = block{kv: b.kv}
	bp.free = append(bp.free, b)
}

// trim lets go of memory beyond what is kept, or a few blocks, when nothing is under
// way.
func (bp *blockPool) trim() {
	const few = 16
	if most := max(bp.keep-bp.idle.Len(), few); len(bp.free) > most {
		bp.made -= len(bp.free) - most
		clear(bp.free[most:])
		bp.free = bp.free[:most]
	}
}
