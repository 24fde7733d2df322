package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/policy/serve"
	"github.com/seed-095d5d2b/whale/recipe"
)

// keyVariable is the environment variable with the key that clients must send.
const keyVariable = "WHALE_API_KEY"

type serveOptions struct {
	addr, name, template string
	seed                 uint64
	batch                int
	cacheTokens          int
	memory               int // MiB
	concurrent           int
	timeout              time.Duration
}

func (a *app) modelServeCmd() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve [NAME|DIR|FILE.gguf]",
		Short: "Serve a model over HTTP, in the dialect of the OpenAI API",
		Long: "Serves whale-tiny, or the model that is named, until it is interrupted: POST /v1/chat/completions and /v1/completions,\n" +
			"GET /v1/models and /healthz. Where the environment has " + keyVariable + ", clients must send it as their API key.",
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			model := "whale-tiny"
			if len(list) == 1 {
				model = list[0]
			}
			if err := o.check(); err != nil {
				return err
			}
			return a.serve(cmd.Context(), model, o)
		},
	}
	c.Flags().StringVar(&o.addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 takes a free one")
	c.Flags().StringVar(&o.name, "model-name", "", "what clients call the model (default: the model's last path element)")
	c.Flags().StringVar(&o.template, "template", "", "chat template by name, instead of the one that the model ships")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "where the seeds of requests without one come from, by the order of their arrival")
	c.Flags().IntVar(&o.batch, "max-batch", 64, "most sequences in one decoding step")
	c.Flags().IntVar(&o.cacheTokens, "cache-tokens", 1<<14, "most tokens of keys and values kept for prompts seen before")
	c.Flags().IntVar(&o.memory, "memory", 1024, "most MiB for keys and values; the longest context depends on it")
	c.Flags().IntVar(&o.concurrent, "concurrent", 64, "requests that sample at once; four times as many may wait")
	c.Flags().DurationVar(&o.timeout, "timeout", 10*time.Minute, "longest time of a request, waiting included")
	return c
}

func (o serveOptions) check() error {
	switch {
	case o.batch < 1:
		return &usageError{fmt.Sprintf("model serve: --max-batch: got %d, want 1 or more", o.batch)}
	case o.cacheTokens < 0:
		return &usageError{fmt.Sprintf("model serve: --cache-tokens: got %d, want 0 or more", o.cacheTokens)}
	case o.memory < 1:
		return &usageError{fmt.Sprintf("model serve: --memory: got %d, want 1 or more", o.memory)}
	case o.concurrent < 1:
		return &usageError{fmt.Sprintf("model serve: --concurrent: got %d, want 1 or more", o.concurrent)}
	case o.timeout <= 0:
		return &usageError{fmt.Sprintf("model serve: --timeout: got %v, want more than 0", o.timeout)}
	}
	if _, _, err := net.SplitHostPort(o.addr); err != nil {
		return &usageError{fmt.Sprintf("model serve: --addr: got %q, want HOST:PORT", o.addr)}
	}
	return nil
}

// serve answers requests until ctx ends, which is how it is meant to end.
func (a *app) serve(ctx context.Context, model string, o serveOptions) error {
	b, err := local.OpenWith(model, local.OpenOptions{Template: o.template})
	if err != nil {
		return &recipe.InputError{Err: err}
	}
	if o.name == "" {
		o.name = strings.TrimSuffix(filepath.Base(model), ".gguf")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return fmt.Errorf("model serve: --addr %s: %w; name another one", o.addr, err)
	}
	defer l.Close()
	pool := kernel.NewPool(a.workers)
	defer pool.Close()
	policy := serve.NewEmbedded(b, lm.GeneratorOptions{Pool: pool, MaxBatch: o.batch, CacheTokens: o.cacheTokens, MemoryBytes: int64(o.memory) << 20})
	defer policy.Close()
	key := os.Getenv(keyVariable)
	loopback := isLoopback(l.Addr())
	s, err := serve.New(
		serve.Model{Name: o.name, Policy: policy, Text: b.Tokenizer, Vocab: b.Tokenizer.Vocab()},
		serve.Options{
			Key: key, Seed: o.seed, Sampling: samplingOf(b.Generation), Concurrent: o.concurrent, Waiting: 4 * o.concurrent, Timeout: o.timeout, LocalHosts: loopback, Now: a.now,
			Log: func(line string) { fmt.Fprintln(a.stderr, line) },
		})
	if err != nil {
		return err
	}
	a.announce(o, b, l.Addr(), key != "", loopback)
	return s.Serve(ctx, l)
}

func (a *app) announce(o serveOptions, b *local.Bundle, addr net.Addr, key, loopback bool) {
	url := "http://" + addr.String() + "/v1"
	if a.json {
		_ = a.printJSON(map[string]string{"url": url, "model": o.name})
	} else {
		fmt.Fprintf(a.stdout, "%s  model %s  (Ctrl-C ends it)\n", url, o.name)
		if s := samplingOf(b.Generation); s != defaultSampling {
			fmt.Fprintf(a.stdout, "where a request leaves them out, the model's own settings: temperature %g, top_p %g, top_k %d\n", s.Temperature, s.TopP, s.TopK)
		}
	}
	if !loopback {
		fmt.Fprintf(a.stderr, "warning: %s is open to other machines, without encryption\n", addr)
		if !key {
			fmt.Fprintf(a.stderr, "warning: anybody who reaches it can use the model; set %s to ask for a key\n", keyVariable)
		}
	}
}

// defaultSampling is OpenAI's.
var defaultSampling = whale.Sampling{Temperature: 1, TopP: 1}

// samplingOf is how the model's makers sample from it.
func samplingOf(g lm.Generation) whale.Sampling {
	s := defaultSampling
	if g.Temperature > 0 {
		s.Temperature = float64(g.Temperature)
	}
	if g.TopP > 0 {
		s.TopP = float64(g.TopP)
	}
	s.TopK = g.TopK
	return s
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
