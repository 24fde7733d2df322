package lm

// A job's path is the blocks of its sequence. The first j.shared of them hang in the
// tree; those after belong to the job alone.

// enter gives a job blocks for the tokens that it has and notes which of them are
// computed, or being computed, already. It changes nothing and reports false if
// they do not fit beside what is in use, with spare blocks left over.
func (b *batch) enter(j *job, spare int) bool {
	// At least one token is left to be fed, since its logits are wanted.
	whole, all := (len(j.tokens)-1)/blockTokens, blocksOf(len(j.tokens))
	parent, hits, idle := b.pool.root, 0, 0
	for hits < whole {
		next := b.pool.blocks[b.key(parent, j, hits)]
		if next == nil {
			break
		}
		if next.users == 0 {
			idle++
		}
		parent = next
		hits++
	}
	if all-hits+idle+spare > b.pool.available() {
		return false
	}
	parent = b.pool.root
	j.path = j.path[:0]
	for i := range hits {
		parent = b.pool.blocks[b.key(parent, j, i)]
		b.pool.use(parent)
		j.path = append(j.path, parent)
	}
	for i := hits; i < all; i++ {
		bl := b.pool.take()
		if i < whole {
			b.pool.hang(bl, b.key(parent, j, i))
			bl.owner, parent = j, bl
		}
		j.path = append(j.path, bl)
	}
	j.shared, j.fed = whole, 0
	return true
}

func (b *batch) key(parent *block, j *job, i int) blockKey {
	return keyOf(parent, j.tokens[i*blockTokens:(i+1)*blockTokens])
}

// leave gives a job's blocks back. What it had begun to compute is for another to
// begin again.
func (b *batch) leave(j *job) {
	for i := len(j.path) - 1; i >= 0; i-- {
		if j.path[i].owner == j {
			j.path[i].owner = nil
		}
		b.pool.drop(j.path[i])
	}
	j.path, j.shared, j.fed = j.path[:0], 0, 0
}

// skip moves fed over blocks that are ready.
func (j *job) skip() {
	for j.fed/blockTokens < j.shared && j.path[j.fed/blockTokens].ready {
		j.fed = (j.fed/blockTokens + 1) * blockTokens
	}
}

// claim returns how many of the next most tokens the job may compute: up to the first
// block that another job computes, or has computed.
func (j *job) claim(most int) int {
	end := j.fed
	for end < j.fed+most {
		if i := end / blockTokens; i < j.shared {
			bl := j.path[i]
			if bl.ready || bl.owner != nil && bl.owner != j {
				break
			}
			bl.owner = j
		}
		end = (end/blockTokens + 1) * blockTokens
	}
	return min(end-j.fed, most)
}

// store advances fed by n, making blocks that become whole available to others.
func (b *batch) store(j *job, n int) {
	from := j.fed / blockTokens
	j.fed += n
	for i := from; i < j.fed/blockTokens; i++ {
		bl := j.path[i]
		if i < j.shared {
			bl.ready, bl.owner = true, nil
			continue
		}
		if i > j.shared {
			continue // its parent is not in the tree
		}
		parent := b.pool.root
		if i > 0 {
			parent = j.path[i-1]
		}
		key := b.key(parent, j, i)
		switch other := b.pool.blocks[key]; {
		case other == nil:
			b.pool.hang(bl, key)
			bl.ready = true
			j.shared++
		case other.ready: // the same numbers twice: keep the first
			b.pool.use(other)
			b.pool.drop(bl)
			j.path[i] = other
			j.shared++
		}
	}
}

// extend gives the job a block for its next token if it has none, taking it from the
// youngest jobs if the pool is exhausted; these wait and begin again where the cache
// leaves them. It reports false if the job itself had to go. The oldest never has to,
// and its sequence alone fits, so that work always goes on.
func (b *batch) extend(j *job) bool {
	if j.fed/blockTokens < len(j.path) {
		return true
	}
	for {
		if bl := b.pool.take(); bl != nil {
			j.path = append(j.path, bl)
			return true
		}
		last := len(b.jobs) - 1
		victim := b.jobs[last]
		b.jobs = b.jobs[:last]
		b.leave(victim)
		b.waiting = append([]*job{victim}, b.waiting...)
		b.preempted++
		if victim == j {
			return false
		}
	}
}
