package main

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/task/searchqa/bm25"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
	"github.com/seed-095d5d2b/whale/task/searchqa/retriever"
)

func (a *app) searchCmd() *cobra.Command {
	return group("searchqa", "Index a corpus for the search domain, and serve it", a.searchIndexCmd(), a.searchServeCmd())
}

func (a *app) searchIndexCmd() *cobra.Command {
	var out, analyzer string
	c := &cobra.Command{
		Use:   "index CORPUS --out DIR",
		Short: "Build an index (BM25) on disk from passages",
		Long: "Builds an index on disk from passages, one a row: {\"id\", \"title\", \"text\"}, or {\"id\", \"contents\"} where contents is the title in quotes, a newline and the text.\n" +
			"CORPUS is a .jsonl or .csv file, plain, .gz or .zst, or a .parquet file; it is streamed.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			switch {
			case out == "":
				return &usageError{"task searchqa index: got no --out, want a folder for the index"}
			case analyzer != bm25.Plain && analyzer != bm25.English:
				return &usageError{fmt.Sprintf("task searchqa index: --analyzer: got %q, want %s or %s", analyzer, bm25.Plain, bm25.English)}
			}
			return a.searchIndex(cmd.Context(), list[0], out, analyzer)
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder for the index; it must not exist")
	c.Flags().StringVar(&analyzer, "analyzer", bm25.English, "how words are compared: "+bm25.Plain+" (lower case) or "+bm25.English+" (also stop words and stems)")
	return c
}

func (a *app) searchIndex(ctx context.Context, path, out, analyzer string) error {
	in, err := corpus.Open(path)
	if err != nil {
		return &recipe.InputError{Err: err}
	}
	defer in.Close()
	start, n := a.now(), 0
	next := func() (corpus.Passage, error) {
		p, err := in.Next()
		if err == nil {
			n++
		}
		return p, err
	}
	o := bm25.BuildOptions{Analyzer: analyzer}
	if !a.json {
		o.Progress = func(passages int) { fmt.Fprintf(a.stderr, "%d passages\n", passages) }
	}
	if err := bm25.Build(ctx, out, next, o); err != nil {
		return &recipe.InputError{Err: err}
	}
	for _, note := range in.Notes() {
		fmt.Fprintln(a.stderr, "note: "+note)
	}
	seconds := a.now().Sub(start).Seconds()
	if a.json {
		return a.printJSON(struct {
			Dir      string  `json:"dir"`
			Passages int     `json:"passages"`
			Seconds  float64 `json:"seconds"`
		}{out, n, seconds})
	}
	fmt.Fprintf(a.stdout, "%s: %d passages in %.1f s; serve it: whale task searchqa serve %s\n", out, n, seconds, out)
	return nil
}

func (a *app) searchServeCmd() *cobra.Command {
	var listen string
	o := retriever.ServerOptions{TopK: 3, Concurrency: 8}
	c := &cobra.Command{
		Use:   "serve DIR",
		Short: "Serve an index over HTTP by the retriever protocol of Search-R1",
		Long: "Answers POST /retrieve {\"queries\", \"topk\", \"return_scores\"} from an index until it is interrupted. A config names the address in\n" +
			"task.searchqa.retrieval.http.endpoints, with retrieval.kind http.",
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			if o.TopK < 1 || o.Concurrency < 1 {
				return &usageError{fmt.Sprintf("task searchqa serve: got --top-k %d and --concurrency %d, want 1 or more", o.TopK, o.Concurrency)}
			}
			return a.searchServe(cmd.Context(), list[0], listen, o)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8001", "address to listen on; port 0 takes a free one")
	c.Flags().IntVar(&o.TopK, "top-k", o.TopK, "passages where a request names no number")
	c.Flags().IntVar(&o.Concurrency, "concurrency", o.Concurrency, "searches at a time")
	return c
}

func (a *app) searchServe(ctx context.Context, dir, listen string, o retriever.ServerOptions) error {
	index, err := bm25.Open(dir)
	if err != nil {
		return &recipe.InputError{Err: err}
	}
	defer index.Close()
	o.Listening = func(addr net.Addr) {
		if a.json {
			_ = a.printJSON(struct {
				URL      string `json:"url"`
				Passages int    `json:"passages"`
			}{"http://" + addr.String() + "/retrieve", index.Len()})
			return
		}
		fmt.Fprintf(a.stdout, "%s: %d passages at http://%s/retrieve\n", dir, index.Len(), addr)
	}
	o.Failed = func(query string, err error) { fmt.Fprintf(a.stderr, "search failed: %s\n", oneLine(err.Error())) }
	return retriever.Serve(ctx, listen, index, o)
}
