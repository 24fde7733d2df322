package token

import (
	"strings"
	"sync"
)

// cache remembers the ids of short words, which repeat a lot. It is bounded:
// cacheShards × shardWords words of at most maxCachedWord bytes, about 10 MB at
// the very worst. A full shard is emptied; a smarter policy buys nothing, as the
// frequent words are back at once.
type cache struct {
	shards [cacheShards]cacheShard
}

type cacheShard struct {
	mu    sync.RWMutex
	words map[string][]int32
}

const (
	cacheShards   = 16
	shardWords    = 2048
	maxCachedWord = 48 // bytes
)

func newCache() *cache {
	c := &cache{}
	for i := range c.shards {
		c.shards[i].words = make(map[string][]int32)
	}
	return c
}

func (c *cache) shard(word string) *cacheShard {
	h := uint32(2166136261) // FNV-1a; only spreads the locks
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * 16777619
	}
	return &c.shards[h>>28]
}

// get returns the ids of word, which the caller must not change.
func (c *cache) get(word string) ([]int32, bool) {
	s := c.shard(word)
	s.mu.RLock()
	ids, ok := s.words[word]
	s.mu.RUnlock()
	return ids, ok
}

// put stores a copy of word and ids.
func (c *cache) put(word string, ids []int32) {
	s := c.shard(word)
	ids = append(make([]int32, 0, len(ids)), ids...)
	word = strings.Clone(word) // do not keep the whole text alive
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.words) >= shardWords {
		clear(s.words)
	}
	s.words[word] = ids
}
