package chess

import (
	"bytes"
	"cmp"
	"container/heap"
	"crypto/sha256"
	"fmt"
	"slices"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task"
)

// sampler keeps of each split the puzzles whose positions have the smallest hashes (with the seed): a uniform sample without repetition that
// depends neither on the order of the rows nor on how the rows are spread over files, in memory for the sample alone.
type sampler struct {
	seed    uint64
	buckets task.Buckets
	kept    map[whale.Split]*sample
	repeats int // rows whose position was kept already
}

// sample is a heap with the largest hash on top.
type sample struct {
	most  int
	items []sampled
	has   map[[16]byte]bool
}

type sampled struct {
	rank    [16]byte
	example whale.Example
	choices []choice
}

func newSampler(seed uint64, counts Counts) *sampler {
	s := &sampler{seed: seed, buckets: fileBuckets(), kept: map[whale.Split]*sample{}}
	for _, split := range splits() {
		n, _ := counts.Of(split)
		s.kept[split] = &sample{most: n, has: map[[16]byte]bool{}}
	}
	return s
}

// add checks a puzzle and offers it to its split.
func (s *sampler) add(p Puzzle) error {
	key, err := p.replay(nil)
	if err != nil {
		return err
	}
	in := s.kept[whale.Split(s.buckets.Of(key))]
	sum := sha256.Sum256(fmt.Appendf(nil, "whale/chess/sample/%d/%s", s.seed, key))
	item := sampled{rank: [16]byte(sum[:16])}
	switch {
	case in.has[item.rank]:
		s.repeats++
		return nil
	case in.most == 0 || len(in.items) == in.most && bytes.Compare(item.rank[:], in.items[0].rank[:]) > 0:
		return nil
	}
	if item.example, item.choices, err = p.example(); err != nil {
		return err
	}
	in.has[item.rank] = true
	heap.Push(in, item)
	if len(in.items) > in.most {
		dropped := heap.Pop(in).(sampled)
		delete(in.has, dropped.rank)
	}
	return nil
}

// of gives the sample of a split in the order of the hashes; an error where it is smaller than wanted.
func (s *sampler) of(split whale.Split) ([]sampled, error) {
	in := s.kept[split]
	if len(in.items) < in.most {
		return nil, fmt.Errorf("chess: lichess.counts.%s: got %d puzzles that pass the filters and belong to this split, want %d", split, len(in.items), in.most)
	}
	return slices.SortedFunc(slices.Values(in.items), func(a, b sampled) int { return cmp.Compare(string(a.rank[:]), string(b.rank[:])) }), nil
}

// sample is a heap.Interface.

func (s *sample) Len() int { return len(s.items) }
func (s *sample) Less(i, j int) bool {
	return bytes.Compare(s.items[i].rank[:], s.items[j].rank[:]) > 0
}
func (s *sample) Swap(i, j int) { s.items[i], s.items[j] = s.items[j], s.items[i] }
func (s *sample) Push(x any)    { s.items = append(s.items, x.(sampled)) }

func (s *sample) Pop() any {
	last := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return last
}
