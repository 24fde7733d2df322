package lm

import (
	"fmt"
	"slices"
)

// The tokens that one step takes from prompts, per request and in all. They bound
// the time between two tokens of a sequence that is already sampling.
const (
	promptChunk = 64
	promptRows  = 256
)

// batch is the set of requests under way and the memory to step them. It belongs to
// the generator's loop.
type batch struct {
	dec   *decoder
	opt   GeneratorOptions
	jobs  []*job
	cache *prefixCache

	// One step's plan: what each job feeds, cut into shares that run side by side. A
	// sequence lies in one share, so shares never wait for each other.
	claims  map[blockKey]bool
	shares  []share
	buffers []*kvBuffer // free
	fed     int         // tokens that went through the model so far
}

// share is one goroutine's part of a step.
type share struct {
	jobs    []*job
	feeds   []feed
	rows    int
	scratch decodeScratch
	sampler sampler
}

func (b *batch) init(d *decoder, opt GeneratorOptions) {
	*b = batch{
		dec: d, opt: opt, cache: newPrefixCache(d.m.cfg, opt.CacheTokens),
		claims: map[blockKey]bool{}, shares: make([]share, opt.Pool.Size()),
	}
}

// step advances every request: those whose prompt is in by one token, the others by
// a piece of their prompt.
func (b *batch) step() {
	b.dropCancelled()
	b.plan()
	if s := &b.shares[0]; len(s.feeds) > 0 && len(b.shares) > 1 && len(b.shares[1].feeds) == 0 {
		s.run(b, true) // nothing to run beside it, so its products use the pool
	} else {
		b.opt.Pool.For(len(b.shares), func(i int) { b.shares[i].run(b, false) })
	}
	b.settle()
}

func (b *batch) dropCancelled() {
	b.jobs = slices.DeleteFunc(b.jobs, func(j *job) bool {
		if j.cancelled.Load() {
			b.end(j, errCancelled)
			return true
		}
		return false
	})
}

// plan decides what each job feeds and deals the feeds to the shares.
func (b *batch) plan() {
	for i := range b.shares {
		s := &b.shares[i]
		s.jobs, s.feeds, s.rows = s.jobs[:0], s.feeds[:0], 0
	}
	clear(b.claims)
	budget := promptRows
	for _, j := range b.jobs {
		if j.kv == nil {
			b.open(j)
		}
		n := len(j.tokens) - j.fed
		if n > 1 {
			if n = b.planPrompt(j, budget); n == 0 {
				continue
			}
			budget -= n
		}
		j.kv.reserve(b.dec.m.cfg, j.fed+n, j.fed)
		s := &b.shares[0]
		for i := range b.shares {
			if b.shares[i].rows < s.rows {
				s = &b.shares[i]
			}
		}
		s.jobs = append(s.jobs, j)
		s.feeds = append(s.feeds, feed{j.kv, j.tokens[j.fed : j.fed+n], j.fed, j.fed+n == len(j.tokens)})
		s.rows += n
	}
}

// planPrompt returns how many prompt tokens the job feeds in this step, after taking
// over from the cache what is there. It is 0 if the job has to wait: for its turn, or
// once for another job that computes the same block in this step.
func (b *batch) planPrompt(j *job, budget int) int {
	for j.at != nil && j.fed%blockTokens == 0 && len(j.tokens)-j.fed > blockTokens {
		key := keyOf(j.at, j.tokens[j.fed:j.fed+blockTokens])
		hit := b.cache.find(key)
		if hit == nil {
			if budget == 0 {
				return 0
			}
			if b.claims[key] && !j.waited {
				j.waited = true
				return 0
			}
			b.claims[key] = true
			break
		}
		j.kv.reserve(b.dec.m.cfg, j.fed+blockTokens, j.fed)
		copyTokens(b.dec.m.cfg, j.kv, j.fed, &hit.kv, 0)
		j.fed += blockTokens
		b.moveTo(j, hit)
		j.waited = false
	}
	return min(len(j.tokens)-j.fed, promptChunk, budget)
}

func (b *batch) open(j *job) {
	j.kv = &kvBuffer{}
	if n := len(b.buffers); n > 0 {
		j.kv = b.buffers[n-1]
		b.buffers = b.buffers[:n-1]
	}
	if b.cache.limit > 0 {
		j.at = b.cache.root
		b.cache.pin(j.at)
	}
}

// moveTo makes the job stand at block to.
func (b *batch) moveTo(j *job, to *block) {
	b.cache.pin(to)
	b.cache.unpin(j.at)
	j.at = to
}

// run computes a share: the model, then a draw for each job whose sequence is in.
func (s *share) run(b *batch, usePool bool) {
	if len(s.feeds) == 0 {
		return
	}
	pool := b.opt.Pool
	if !usePool {
		pool = nil
	}
	logits := b.dec.run(pool, s.feeds, &s.scratch)
	for i, j := range s.jobs {
		if !s.feeds[i].logits {
			continue
		}
		row := logits[:b.dec.m.cfg.Vocab]
		logits = logits[len(row):]
		tok, logp, sampleLogp, err := s.sampler.draw(row, &j.req, len(j.tokens))
		if err != nil {
			j.err = err
			continue
		}
		j.tokens = append(j.tokens, tok)
		j.result.LogProbs = append(j.result.LogProbs, logp)
		j.result.SampleLogProbs = append(j.result.SampleLogProbs, sampleLogp)
	}
}

// settle notes what was fed, offers whole blocks to the cache and ends what is
// finished.
func (b *batch) settle() {
	for i := range b.shares {
		s := &b.shares[i]
		for k, j := range s.jobs {
			b.store(j, len(s.feeds[k].tokens))
			b.fed += len(s.feeds[k].tokens)
		}
	}
	b.jobs = slices.DeleteFunc(b.jobs, func(j *job) bool {
		finish, err := j.state()
		if finish == "" && err == nil {
			return false
		}
		j.result.Finish = finish
		j.result.Tokens = j.tokens[len(j.req.Prompt):]
		b.end(j, err)
		return true
	})
}

// store advances fed by n, adding each block that becomes whole to the cache.
func (b *batch) store(j *job, n int) {
	from := j.fed / blockTokens
	j.fed += n
	for i := from; i < j.fed/blockTokens && j.at != nil; i++ {
		key := keyOf(j.at, j.tokens[i*blockTokens:(i+1)*blockTokens])
		next := b.cache.find(key)
		if next == nil {
			next = b.cache.insert(key, j.kv, i*blockTokens)
		}
		if next == nil { // the cache is full of what others are using
			b.cache.unpin(j.at)
			j.at = nil
			return
		}
		b.moveTo(j, next)
	}
}

// state says whether a job is finished, and how.
func (j *job) state() (finish string, err error) {
	if j.err != nil {
		return "", fmt.Errorf("generate: %w", j.err)
	}
	completion := j.tokens[len(j.req.Prompt):]
	if j.fed < len(j.tokens)-1 || len(completion) == 0 {
		return "", nil // the prompt is not in yet
	}
	if slices.Contains(j.req.Stop, completion[len(completion)-1]) {
		return FinishStop, nil
	}
	stop, err := j.callStop(completion)
	switch {
	case err != nil:
		return "", err
	case stop:
		return FinishStop, nil
	case len(j.tokens) == j.limit:
		return FinishLength, nil
	}
	return "", nil
}

// callStop shields the loop from a panic in the caller's function.
func (j *job) callStop(completion []int32) (stop bool, err error) {
	if j.req.StopFunc == nil {
		return false, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("generate: stop function panicked: %s", oneLine(fmt.Sprint(r)))
		}
	}()
	return j.req.StopFunc(completion[:len(completion):len(completion)]), nil
}

// end releases what the job holds and hands its result over.
func (b *batch) end(j *job, err error) {
	if j.at != nil {
		b.cache.unpin(j.at)
		j.at = nil
	}
	if j.kv != nil && len(b.buffers) < b.opt.MaxBatch {
		b.buffers = append(b.buffers, j.kv)
	}
	j.kv = nil
	j.finish(err)
}

// abort ends all jobs.
func (b *batch) abort(err error) {
	for _, j := range b.jobs {
		b.end(j, err)
	}
	b.jobs = nil
}
