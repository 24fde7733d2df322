package token

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"slices"
)

// TrainOptions say what vocabulary to learn.
type TrainOptions struct {
	// Vocab is the number of tokens in all: 256 bytes, the special tokens and the
	// merges. Learning stops earlier if no pair is left in the texts.
	Vocab int
	// Special names the special tokens, which take the last ids in this order.
	Special []string
	// Split cuts the texts into words.
	Split Split
}

// Train learns a byte-level BPE vocabulary (Sennrich et al. 2016, on bytes as in
// GPT-2): it merges the most frequent pair of neighbouring tokens within the words,
// again and again. Among pairs of equal counts the one with the smaller ids wins,
// left first, so that equal texts in any order give equal tokenizers; Hugging
// Face's trainer, started with the whole byte alphabet, learns the same merges.
func Train(texts iter.Seq[string], opt TrainOptions) (*Tokenizer, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	tokens := make([]string, 0, opt.Vocab)
	for _, b := range newByteAlphabet().order {
		tokens = append(tokens, string([]byte{b}))
	}
	tr := newTrainer(countWords(texts, opt.Split), tokens, opt.Special)
	pairs := tr.learn(opt.Vocab - byteTokens - len(opt.Special))
	tokens = tr.tokens
	c := content{split: opt.Split, tokens: tokens}
	for _, name := range opt.Special {
		c.added = append(c.added, Added{ID: int32(len(c.tokens)), Content: name, Special: true})
		c.tokens = append(c.tokens, name)
	}
	return build(c, pairs, nil)
}

func (opt TrainOptions) check() error {
	if err := opt.Split.check(); err != nil {
		return err
	}
	for i, name := range opt.Special {
		if err := (Added{Content: name, Special: true}).check(); err != nil {
			return err
		}
		if slices.Contains(opt.Special[:i], name) {
			return fmt.Errorf("special token %.40q: got two, want one", name)
		}
	}
	if least := byteTokens + len(opt.Special); opt.Vocab < least || opt.Vocab > maxVocab {
		return fmt.Errorf("vocabulary: got %d tokens, want %d (bytes and special tokens) to %d", opt.Vocab, least, maxVocab)
	}
	return nil
}

func countWords(texts iter.Seq[string], split Split) map[string]int {
	counts := make(map[string]int)
	for text := range texts {
		split.words(text, func(word string) bool {
			counts[word]++
			return true
		})
	}
	return counts
}

// trainer holds the words as tokens so far and the counts of all pairs in them.
type trainer struct {
	alphabet *byteAlphabet
	reserved []string // spellings no token may take: the special tokens
	tokens   []string // id → bytes
	words    []trainWord
	counts   map[pair]int
	where    map[pair][]int32 // words that held the pair at some time; may repeat
	queue    pairQueue
}

type trainWord struct {
	ids   []int32
	count int // occurrences in the texts
}

func newTrainer(counts map[string]int, tokens []string, reserved []string) *trainer {
	tr := &trainer{
		alphabet: newByteAlphabet(), reserved: reserved, tokens: tokens,
		counts: make(map[pair]int), where: make(map[pair][]int32),
	}
	var byteID [256]int32
	for id, s := range tokens {
		byteID[s[0]] = int32(id)
	}
	for word, count := range counts {
		if len(word) < 2 {
			continue
		}
		ids := make([]int32, len(word))
		for i := range len(word) {
			ids[i] = byteID[word[i]]
		}
		tr.words = append(tr.words, trainWord{ids, count})
	}
	// The map's order is random; nothing below depends on the order of the words.
	for w, word := range tr.words {
		for i := range len(word.ids) - 1 {
			p := pair{word.ids[i], word.ids[i+1]}
			tr.counts[p] += word.count
			tr.found(p, int32(w))
		}
	}
	for p, count := range tr.counts {
		tr.queue = append(tr.queue, queued{p, count})
	}
	heap.Init(&tr.queue)
	return tr
}

// found notes that word w holds p.
func (tr *trainer) found(p pair, w int32) {
	at := tr.where[p]
	if len(at) == 0 || at[len(at)-1] != w {
		tr.where[p] = append(at, w)
	}
}

// learn makes up to n merges. No token is ever made by two different pairs: the
// merges inside a token's bytes happen in the same order wherever they lie.
func (tr *trainer) learn(n int) []pair {
	var pairs []pair
	for len(pairs) < n && len(tr.queue) > 0 {
		top := heap.Pop(&tr.queue).(queued)
		if now := tr.counts[top.pair]; now != top.count {
			if now > 0 { // it shrank after it was queued
				heap.Push(&tr.queue, queued{top.pair, now})
			}
			continue
		}
		whole := tr.tokens[top.left] + tr.tokens[top.right]
		if len(whole) > maxTokenBytes || slices.Contains(tr.reserved, tr.alphabet.spell(whole)) {
			continue // stays two tokens for good
		}
		id := int32(len(tr.tokens))
		tr.tokens = append(tr.tokens, whole)
		pairs = append(pairs, top.pair)
		tr.apply(top.pair, id)
	}
	return pairs
}

// apply replaces p by id in all words and queues the pairs this makes.
func (tr *trainer) apply(p pair, id int32) {
	grown := make(map[pair]bool)
	for _, w := range tr.where[p] {
		word := &tr.words[w]
		word.ids = replace(word.ids, p, id, func(q pair, by int) {
			tr.counts[q] += by * word.count
			if by > 0 {
				grown[q] = true
				tr.found(q, w)
			}
		})
	}
	delete(tr.where, p)
	delete(tr.counts, p)
	for q := range grown { // any order: the queue's order is total
		if count := tr.counts[q]; count > 0 {
			heap.Push(&tr.queue, queued{q, count})
		}
	}
}

// replace puts id in the place of each p in ids, from the left, and reports every
// pair that goes (-1) or comes (+1) beside it.
func replace(ids []int32, p pair, id int32, changed func(q pair, by int)) []int32 {
	out := ids[:0]
	for i := 0; i < len(ids); i++ {
		if i+1 == len(ids) || ids[i] != p.left || ids[i+1] != p.right {
			out = append(out, ids[i])
			continue
		}
		if n := len(out); n > 0 {
			changed(pair{out[n-1], p.left}, -1)
			changed(pair{out[n-1], id}, +1)
		}
		if i+2 < len(ids) {
			changed(pair{p.right, ids[i+2]}, -1)
			changed(pair{id, ids[i+2]}, +1)
		}
		out = append(out, id)
		i++
	}
	return out
}

// queued is a pair with its count when it was queued.
type queued struct {
	pair
	count int
}

// pairQueue is a heap: highest count first, then smaller ids.
type pairQueue []queued

func (q pairQueue) Len() int      { return len(q) }
func (q pairQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *pairQueue) Push(x any)   { *q = append(*q, x.(queued)) }
func (q pairQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].count, q[i].count), cmp.Compare(q[i].left, q[j].left), cmp.Compare(q[i].right, q[j].right)) < 0
}
func (q *pairQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
