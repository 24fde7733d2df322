package token

// merger applies the merges to one word at a time; its buffers are reused. A heap
// of candidate pairs keeps a word of n bytes at O(n log n), so a long text
// without spaces is no trap.
type merger struct {
	t     *Tokenizer
	parts []part
	heap  []uint64
}

// part is a token of the word so far, in a list linked by index. A part that was
// merged into its left neighbour stays in the slice with rank noMerge.
type part struct {
	id         int32
	prev, next int32 // -1 at the ends
	rank       int32 // of the pair (this part, next), or noMerge
}

const noMerge = -1

// append adds the ids of word to dst. The word must be shorter than 2 GiB.
func (m *merger) append(dst []int32, word string) []int32 {
	t := m.t
	m.parts, m.heap = m.parts[:0], m.heap[:0]
	for i := range len(word) {
		id := t.byteID[word[i]]
		if id == noToken {
			continue
		}
		n := int32(len(m.parts))
		m.parts = append(m.parts, part{id: id, prev: n - 1, next: n + 1, rank: noMerge})
	}
	n := len(m.parts)
	if n == 0 {
		return dst
	}
	m.parts[n-1].next = -1
	for i := range int32(n) {
		m.offer(i)
	}
	for len(m.heap) > 0 {
		rank, i := m.pop()
		if m.parts[i].rank != rank {
			continue // the pair has changed since it was offered
		}
		m.join(i, rank)
	}
	for i := int32(0); i >= 0; i = m.parts[i].next {
		dst = append(dst, m.parts[i].id)
	}
	return dst
}

// join merges part i with its right neighbour and offers the new neighbourhoods.
func (m *merger) join(i, rank int32) {
	left := &m.parts[i]
	right := &m.parts[left.next]
	left.id = m.t.merges[rank].id
	left.next = right.next
	right.rank = noMerge
	if left.next >= 0 {
		m.parts[left.next].prev = i
	}
	m.offer(i)
	if left.prev >= 0 {
		m.offer(left.prev)
	}
}

// offer looks up the pair that starts at part i and queues its merge if it has one.
func (m *merger) offer(i int32) {
	p := &m.parts[i]
	p.rank = noMerge
	if p.next < 0 {
		return
	}
	rank, ok := m.t.rank[pair{p.id, m.parts[p.next].id}]
	if !ok {
		return
	}
	p.rank = rank
	m.push(rank, i)
}

// The heap is a binary min-heap of rank<<32 | position: lowest rank first, leftmost
// first among equals. Written out because container/heap boxes every entry.

func (m *merger) push(rank, i int32) {
	key := uint64(rank)<<32 | uint64(i)
	h := append(m.heap, key)
	k := len(h) - 1
	for k > 0 {
		up := (k - 1) / 2
		if h[up] <= key {
			break
		}
		h[k] = h[up]
		k = up
	}
	h[k] = key
	m.heap = h
}

func (m *merger) pop() (rank, i int32) {
	h := m.heap
	top := h[0]
	n := len(h) - 1
	key := h[n]
	h = h[:n]
	k := 0
	for {
		down := 2*k + 1
		if down >= n {
			break
		}
		if down+1 < n && h[down+1] < h[down] {
			down++
		}
		if key <= h[down] {
			break
		}
		h[k] = h[down]
		k = down
	}
	if n > 0 {
		h[k] = key
	}
	m.heap = h
	return int32(top >> 32), int32(top & 0xFFFFFFFF)
}
