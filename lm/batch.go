package lm

import (
	"fmt"
	"slices"

	"github.com/seed-095d5d2b/whale/lm/kernel"
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
	dec     *decoder
	opt     GeneratorOptions
	jobs    []*job // that hold blocks, oldest first
	waiting []*job // that had to give theirs back, oldest first
	pool    *blockPool

	// One step's plan: what each job feeds, cut into shares that run side by side. A
	// sequence lies in one share, so shares never wait for each other.
	shares    []share
	fed       int // tokens that went through the model so far
	preempted int // times that a job had to give its blocks back
}

// share is one goroutine's part of a step.
type share struct {
	jobs     []*job
	feeds    []feed
	rows     int
	scratch  decodeScratch
	samplers samplerList
}

func (b *batch) init(d *decoder, opt GeneratorOptions) {
	c := d.m.cfg
	*b = batch{
		dec: d, opt: opt, pool: newBlockPool(c, opt.blocks(c), opt.CacheTokens/blockTokens),
		shares: make([]share, opt.Pool.Size()),
	}
	if d.bytes() > shareBytes {
		b.shares = b.shares[:1]
	}
}

// shareBytes is the size of the weights from which all sequences run in one share,
// whose products use the whole pool: when the weights no longer lie in a core's cache,
// reading them once for all beats working undisturbed.
const shareBytes = 16 << 20

// step advances every request: those whose prompt is in by one token, the others by
// a piece of their prompt.
func (b *batch) step() {
	defer b.opt.Pool.Work().End()
	b.dropCancelled()
	b.plan()
	if len(b.shares) == 1 || len(b.shares[0].feeds) > 0 && len(b.shares[1].feeds) == 0 {
		b.shares[0].run(b, b.opt.Pool) // nothing to run beside it, so its products use the pool
	} else {
		b.opt.Pool.For(len(b.shares), func(i int) { b.shares[i].run(b, nil) })
	}
	b.settle()
}

func (b *batch) dropCancelled() {
	drop := func(j *job) bool {
		if j.cancelled.Load() {
			b.end(j, errCancelled)
			return true
		}
		return false
	}
	b.jobs = slices.DeleteFunc(b.jobs, drop)
	b.waiting = slices.DeleteFunc(b.waiting, drop)
}

// plan decides what each job feeds and deals the feeds to the shares.
func (b *batch) plan() {
	for i := range b.shares {
		s := &b.shares[i]
		s.jobs, s.feeds, s.rows = s.jobs[:0], s.feeds[:0], 0
	}
	budget := promptRows
	for i := 0; i < len(b.jobs); i++ { // extend takes from its end
		j := b.jobs[i]
		j.skip()
		n := len(j.tokens) - j.fed
		if n > 1 { // 0 tokens: for want of a turn, or because another job computes the same
			n = j.claim(min(n, promptChunk, budget))
			budget -= n
		}
		if n == 0 || !b.extend(j) {
			continue
		}
		s := &b.shares[0]
		for i := range b.shares {
			if b.shares[i].rows < s.rows {
				s = &b.shares[i]
			}
		}
		s.jobs = append(s.jobs, j)
		s.feeds = append(s.feeds, feed{j.path, j.tokens[j.fed : j.fed+n], j.fed, j.fed+n == len(j.tokens)})
		s.rows += n
	}
}

// run computes a share: the model, then a draw for each job whose sequence is in.
func (s *share) run(b *batch, p *kernel.Pool) {
	if len(s.feeds) == 0 {
		return
	}
	logits := b.dec.run(p, s.feeds, &s.scratch)
	vocab, row := b.dec.m.cfg.Vocab, 0
	for i, j := range s.jobs {
		if j.row = -1; s.feeds[i].logits {
			j.row = row
			row++
		}
	}
	p.For(len(s.jobs), func(i int) {
		if j := s.jobs[i]; j.row >= 0 {
			smp := s.samplers.take()
			j.draw(smp, logits[j.row*vocab:(j.row+1)*vocab])
			s.samplers.put(smp)
		}
	})
}

// draw appends a token.
func (j *job) draw(s *sampler, logits []float32) {
	tok, logp, sampleLogp, err := s.draw(logits, &j.req, len(j.tokens))
	if err != nil {
		j.err = err
		return
	}
	j.tokens = append(j.tokens, tok)
	j.result.LogProbs = append(j.result.LogProbs, logp)
	j.result.SampleLogProbs = append(j.result.SampleLogProbs, sampleLogp)
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
	b.leave(j)
	j.finish(err)
}

// abort ends all jobs.
func (b *batch) abort(err error) {
	for _, j := range append(b.jobs, b.waiting...) {
		b.end(j, err)
	}
	b.jobs, b.waiting = nil, nil
}

// rest lets go of memory that is not kept for later, when nothing is under way.
func (b *batch) rest() {
	b.pool.trim()
	for i := range b.shares {
		b.shares[i].scratch.forget()
	}
}

// release lets go of the memory that counts, for callers that keep a closed generator.
func (b *batch) release() {
	b.shares = nil
	b.dec.layers, b.dec.head, b.dec.embed = nil, nil, nil
	for _, bl := range b.pool.blocks {
		bl.kv = nil
	}
	for _, bl := range b.pool.free {
		bl.kv = nil
	}
}
