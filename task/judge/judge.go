package judge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
)

// Asker asks a language model at temperature 0. An error means that it gave no reply, retries included.
type Asker interface {
	Ask(ctx context.Context, prompt string) (string, error)
}

// Judge judges answers. It is safe for many goroutines at once.
type Judge struct {
	config Config
	asker  Asker
	cache  *cache

	now func() time.Time

	mu       sync.Mutex
	stats    Stats
	failures int       // in a row
	resting  time.Time // until then nobody is asked
}

// An endpoint that fails takes all its retries each time, minutes where it hangs. After so many failures in a row nobody is asked for a while,
// and exact match decides at once.
const (
	maxFailures = 5
	rest        = 30 * time.Second
)

// Stats counts what a judge has done.
type Stats struct {
	Asked     int    // questions put to the model, retries apart
	Cached    int    // judgements that were known
	Fallbacks int    // answers judged by exact match, because the model gave no judgement
	Disagreed int    // judgements that exact match contradicts
	LastError string // why the last fallback was made; one line
}

// New makes a judge. Close it.
func New(c Config, asker Asker) (*Judge, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("judge.%w", err)
	}
	if asker == nil {
		return nil, errors.New("judge: got nobody to ask")
	}
	cache, err := openCache(c.CacheFile)
	if err != nil {
		return nil, fmt.Errorf("judge.cache_file: %w", err)
	}
	return &Judge{config: c, asker: asker, cache: cache, now: time.Now}, nil
}

// ID hashes who judges, what it is told and what it may read and write. Where its endpoint is, is not part of it.
func (c Config) ID() whale.ID {
	return whale.HashOf("judge", struct {
		Prompt      int
		Model       string
		AnswerChars int
		ReplyTokens int
	}{promptVersion, c.Model, c.AnswerChars, c.ReplyTokens})
}

// Outcome is a judgement.
type Outcome struct {
	Correct  bool
	Exact    bool // what exact match says
	Fallback bool // exact match decided
	Cached   bool
}

// Judge compares an answer with the references. The error is the context's alone.
func (j *Judge) Judge(ctx context.Context, question string, references []string, got string) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	o := Outcome{Exact: answer.ExactMatch(got, references)}
	if answer.Squad(got) == "" { // nothing to read: no model is needed
		o.Correct = o.Exact
		return o, nil
	}
	text := prompt(question, references, quote(got, j.config.AnswerChars))
	key := whale.HashOf("judgement", []string{string(j.config.ID()), text})
	if correct, ok := j.cache.get(key); ok {
		o.Correct, o.Cached = correct, true
		j.count(o, false, nil)
		return o, nil
	}
	if j.rests() {
		o.Correct, o.Fallback = o.Exact, true
		j.count(o, false, nil)
		return o, nil
	}
	reply, err := j.asker.Ask(ctx, text)
	if cause := ctx.Err(); cause != nil {
		return Outcome{}, cause
	}
	j.asked(err)
	correct, ok := parse(reply)
	if err == nil && !ok {
		err = fmt.Errorf("got the reply %s, want CORRECT or INCORRECT", quote(reply, 80))
	}
	if err != nil {
		o.Correct, o.Fallback = o.Exact, true
		j.count(o, true, err)
		return o, nil
	}
	o.Correct = correct
	j.count(o, true, j.cache.put(key, correct))
	return o, nil
}

// rests says whether the endpoint is left alone.
func (j *Judge) rests() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now().Before(j.resting)
}

// asked notes whether the endpoint replied.
func (j *Judge) asked(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		j.failures = 0
		return
	}
	if j.failures++; j.failures >= maxFailures {
		j.resting = j.now().Add(rest)
	}
}

func (j *Judge) count(o Outcome, asked bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if asked {
		j.stats.Asked++
	}
	if o.Cached {
		j.stats.Cached++
	}
	if o.Fallback {
		j.stats.Fallbacks++
	}
	if o.Correct != o.Exact {
		j.stats.Disagreed++
	}
	if err != nil {
		j.stats.LastError = oneLine(err.Error())
	}
}

// Stats tells what the judge has done so far.
func (j *Judge) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stats
}

// Close closes the cache.
func (j *Judge) Close() error { return j.cache.close() }
