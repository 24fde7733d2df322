package serve

import (
	"encoding/json"
	"math"

	"github.com/seed-095d5d2b/whale"
)

// The bounds of one request.
const (
	maxStops     = 16
	maxStopBytes = 1 << 10
	maxSeed      = 1<<31 - 1 // what a SampleRequest takes
	maxN         = 64        // choices of a request
)

// request is what both kinds of completions have in common, read and checked.
type request struct {
	model     string
	user      string
	sampling  whale.Sampling
	n         int
	seed      *uint32
	maxTokens int // 0: as many as fit
	stop      []string
	stopIDs   []int32
	ignoreEOS bool
	stream    bool
	usage     bool // the stream's last chunk has the usage
	ids       bool // the reply has token ids
	logprobs  bool
}

// readCommon takes the common fields. absent stands in for sampling settings that the request leaves out.
func readCommon(o *object, absent whale.Sampling) request {
	r := request{
		model: o.text("model"),
		user:  o.text("user"),
		sampling: whale.Sampling{
			Temperature: o.number("temperature", absent.Temperature, 0, 2),
			TopP:        o.number("top_p", absent.TopP, 0, 1),
			TopK:        int(o.integer("top_k", int64(absent.TopK), -1, math.MaxInt32)),
		},
		n:         int(o.integer("n", 1, 1, maxN)),
		maxTokens: int(o.integer("max_tokens", 0, 1, math.MaxInt32)),
		stop:      readStop(o),
		ignoreEOS: o.flag("ignore_eos", false),
		stream:    o.flag("stream", false),
		ids:       o.flag("return_token_ids", false),
	}
	if float32(r.sampling.TopP) == 0 {
		o.fail("top_p", "got 0, want more than 0, and at most 1")
	}
	r.sampling.TopK = max(r.sampling.TopK, 0) // vLLM's -1 is off, too
	var seed int64
	if decode(o, "seed", "a whole number", &seed) {
		if seed < 0 || seed > maxSeed {
			o.fail("seed", "got %d, want 0 to %d", seed, maxSeed)
		}
		s := uint32(seed)
		r.seed = &s
	}
	decode(o, "stop_token_ids", "a list of token ids", &r.stopIDs)
	if raw := o.take("stream_options"); raw != nil {
		opt := readObject(o.at("stream_options"), raw)
		r.usage = opt.flag("include_usage", false)
		o.join(opt.close())
		if !r.stream {
			o.fail("stream_options", "got options for a stream, want \"stream\": true with them")
		}
	}
	o.only("frequency_penalty", "the sampler has no penalties", "0", "0.0")
	o.only("presence_penalty", "the sampler has no penalties", "0", "0.0")
	o.only("logit_bias", "the sampler has no biases", "{}")
	return r
}

// readStop reads one stop text or a list of them.
func readStop(o *object) []string {
	raw := o.take("stop")
	if raw == nil {
		return nil
	}
	var one string
	var stops []string
	if json.Unmarshal(raw, &one) == nil {
		stops = []string{one}
	} else if json.Unmarshal(raw, &stops) != nil {
		o.fail("stop", "got %s, want a text or a list of texts", brief(raw))
		return nil
	}
	if len(stops) > maxStops {
		o.fail("stop", "got %d texts, want at most %d", len(stops), maxStops)
	}
	for _, s := range stops {
		if s == "" || len(s) > maxStopBytes {
			o.fail("stop", "got a text of %d bytes, want 1 to %d", len(s), maxStopBytes)
		}
	}
	return stops
}

// seedOf gives a choice's seed: the request's own for the first, so that it can be repeated outside of the server, and seeds derived from it for
// the others.
func seedOf(seed uint32, choice string, first bool) uint32 {
	if first {
		return seed
	}
	return whale.DeriveSeed(uint64(seed), "serve", choice)
}
