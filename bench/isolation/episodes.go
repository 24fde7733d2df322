package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
	"github.com/seed-095d5d2b/whale/harness/process"
)

// way is how an episode runs.
type way int

const (
	inProcess way = iota
	inWorker
)

type bench struct{ runtime *process.Runtime }

// program makes a harness that calls the model so many times with a conversation of the usual size.
func (b *bench) program(w way, calls int) (whale.Harness, error) {
	src := fmt.Sprintf(`SYSTEM_PROMPT = %q
def run(task, model, env):
    reply = None
    for i in range(%d):
        reply = model.chat([chat.system(SYSTEM_PROMPT), chat.user(task.question)] + ([reply, chat.user("Go on.")] if reply else []), max_tokens = 256)
    return reply
`, strings.Repeat("You solve word problems. ", 16), calls)
	if w == inWorker {
		return b.runtime.New("bench.star", []byte(src))
	}
	return harness.New("bench.star", []byte(src))
}

// host answers after a while, at once where it is 0, and keeps the µs from each answer to the next call.
type host struct {
	start whale.Start
	reply whale.Reply
	seed  uint32
	think time.Duration // on average: between half of it and one and a half, so that episodes do not march in step
	gaps  []float64     // nil = not kept
	last  time.Time
}

func newHost(calls int) *host {
	return &host{
		start: whale.Start{
			Contract: whale.ContractVersion, Task: map[string]string{"question": strings.Repeat("How many apples are left? ", 12)},
			Tools: []whale.ToolSpec{{Name: "calculator", Description: "computes", Parameters: []whale.ToolParameter{
				{Name: "code", Type: "string", Description: "an expression", Required: true},
			}}},
			Limits: whale.Limits{Steps: 1 << 40, ModelCalls: calls, ToolCalls: 16, Tokens: 8192, MessageBytes: 256 << 10, LogBytes: 16 << 10},
		},
		reply: whale.Reply{Text: strings.Repeat("There are 3 apples and 4 pears. ", 12), Finish: whale.FinishStop, Tokens: 100},
	}
}

func (h *host) Start() whale.Start { return h.start }
func (h *host) AddSteps(uint64)    {}

func (h *host) Do(context.Context, whale.Request) (whale.Response, error) {
	h.reply.Ref++
	reply := h.reply
	if h.gaps != nil {
		if reply.Ref > 1 {
			h.gaps = append(h.gaps, float64(time.Since(h.last).Nanoseconds())/1e3)
		}
		if h.think > 0 {
			h.seed += 0x9e3779b9
			time.Sleep(h.think/2 + h.think*time.Duration(h.seed>>16)/0x10000)
		}
		h.last = time.Now()
	}
	return whale.Response{Reply: &reply}, nil
}

// episodes runs as many episodes as hosts, so many at a time, and gives the wall time.
func episodes(p whale.Harness, hosts []*host, at int) (time.Duration, error) {
	next := make(chan *host)
	failed := make(chan error, at)
	var wg sync.WaitGroup
	begin := time.Now()
	for range at {
		wg.Go(func() {
			for h := range next {
				if _, err := p.Run(context.Background(), h); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	for _, h := range hosts {
		next <- h
	}
	close(next)
	wg.Wait()
	took := time.Since(begin)
	select {
	case err := <-failed:
		return 0, err
	default:
		return took, nil
	}
}

// warm starts the workers.
func (b *bench) warm(at int) error {
	_, err := b.trivial(inWorker, at, 2*at)
	return err
}

// calls runs one episode at each place.
func (b *bench) calls(w way, at, calls int, prepare func(h *host)) (time.Duration, []*host, error) {
	each := max(calls/at, 20)
	p, err := b.program(w, each)
	if err != nil {
		return 0, nil, err
	}
	hosts := make([]*host, at)
	for i := range hosts {
		hosts[i] = newHost(each)
		hosts[i].seed = uint32(i) * 0x6d2b79f5
		prepare(hosts[i])
	}
	took, err := episodes(p, hosts, at)
	return took / time.Duration(each*at), hosts, err
}

// call is the median µs from an answer of the host to the episode's next call.
func (b *bench) call(w way, at, calls int, think time.Duration) (float64, error) {
	_, hosts, err := b.calls(w, at, calls, func(h *host) { h.gaps, h.think = make([]float64, 0, calls), think })
	if err != nil {
		return 0, err
	}
	var all []float64
	for _, h := range hosts {
		all = append(all, h.gaps...)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// rate is the wall time of a call, in µs, where all episodes call as fast as they can.
func (b *bench) rate(w way, at, calls int) (float64, error) {
	took, _, err := b.calls(w, at, calls, func(*host) {})
	return float64(took.Nanoseconds()) / 1e3, err
}

// trivial is how many episodes of one call end in a second.
func (b *bench) trivial(w way, at, n int) (float64, error) {
	p, err := b.program(w, 1)
	if err != nil {
		return 0, err
	}
	hosts := make([]*host, n)
	for i := range hosts {
		hosts[i] = newHost(1)
	}
	took, err := episodes(p, hosts, at)
	return float64(n) / took.Seconds(), err
}
