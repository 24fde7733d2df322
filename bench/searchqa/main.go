// Command searchqa measures the search domain's index on disk: how long it takes to build, how large it is, and how many queries a second it answers, from the
// folder and over HTTP.
//
//	go run ./bench/searchqa --passages 100000
//
// Passages are generated, of about a hundred words each as those of the Wikipedia of 2018 that Search-R1 uses; queries are generated questions about them. README.md has
// the numbers.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/searchqa/bm25"
	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
	"github.com/seed-095d5d2b/whale/task/searchqa/retriever"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

func main() {
	n := flag.Int("passages", 100_000, "passages")
	analyzer := flag.String("analyzer", bm25.English, "plain or english")
	span := flag.Duration("time", 5*time.Second, "of each measurement of queries")
	topK := flag.Int("top-k", 3, "passages of an answer")
	flag.Parse()
	if err := run(context.Background(), *n, *topK, *analyzer, *span); err != nil {
		fmt.Fprintln(os.Stderr, "searchqa:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, n, topK int, analyzer string, span time.Duration) error {
	dir, err := os.MkdirTemp("", "whale-bench-searchqa-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, folder := filepath.Join(dir, "corpus.jsonl"), filepath.Join(dir, "index")
	queries, err := write(file, n)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Printf("corpus: %d passages, %.1f MB of JSONL; %d CPUs\n", n, mega(info.Size()), runtime.GOMAXPROCS(0))

	start, before := time.Now(), cpu()
	if err := build(ctx, file, folder, analyzer); err != nil {
		return err
	}
	took, used := time.Since(start), cpu()-before
	bytes, err := size(folder)
	if err != nil {
		return err
	}
	fmt.Printf("build (%s): %.1f s, %.1f s of CPU time, %.0f passages/s; index %.1f MB, memory at most %.0f MB\n", analyzer, took.Seconds(), used.Seconds(),
		float64(n)/took.Seconds(), mega(bytes), peak())

	index, err := bm25.Open(folder)
	if err != nil {
		return err
	}
	defer index.Close()
	for _, at := range []int{1, runtime.GOMAXPROCS(0)} {
		if err := measure(ctx, fmt.Sprintf("folder, %d at a time", at), index, queries, topK, at, span); err != nil {
			return err
		}
	}
	return overHTTP(ctx, index, queries, topK, span)
}

// perPassage is how many articles make a passage of about a hundred words.
const perPassage = 5

// write makes the corpus, and gives questions about it.
func write(path string, n int) ([]string, error) {
	o := world.DefaultOptions()
	o.Articles, o.Letters = max(n, world.MinArticles), 0
	o.Counts = world.Counts{Test: min(2000, n/8)}
	w, err := world.Generate(o)
	if err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	encoder := json.NewEncoder(out)
	for i := range n {
		a := w.Articles[i]
		p := corpus.Passage{ID: a.ID, Title: a.Title, Text: a.Text}
		for j := 1; j < perPassage; j++ {
			p.Text += " " + w.Articles[(i+j)%len(w.Articles)].Text
		}
		if err := encoder.Encode(map[string]string{"id": p.ID, "contents": p.Contents()}); err != nil {
			return nil, err
		}
	}
	var queries []string
	for _, q := range w.Questions[whale.SplitTest] {
		queries = append(queries, q.Text)
	}
	return queries, out.Flush()
}

func build(ctx context.Context, file, folder, analyzer string) error {
	in, err := corpus.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	return bm25.Build(ctx, folder, in.Next, bm25.BuildOptions{Analyzer: analyzer})
}

// measure asks for the time given, so many queries at a time.
func measure(ctx context.Context, name string, s retriever.Searcher, queries []string, topK, at int, span time.Duration) error {
	for _, q := range queries[:min(len(queries), 200)] { // what is read for the first time is not measured
		if _, err := s.Search(ctx, q, topK); err != nil {
			return err
		}
	}
	var next, found atomic.Int64
	times := make([][]time.Duration, at)
	errs := make([]error, at)
	var group sync.WaitGroup
	start, before := time.Now(), cpu()
	for worker := range at {
		group.Go(func() {
			for time.Since(start) < span && errs[worker] == nil {
				q := queries[int(next.Add(1))%len(queries)]
				began := time.Now()
				hits, err := s.Search(ctx, q, topK)
				times[worker] = append(times[worker], time.Since(began))
				errs[worker] = err
				found.Add(int64(len(hits)))
			}
		})
	}
	group.Wait()
	took, used := time.Since(start), cpu()-before
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	all := slices.Sorted(slices.Values(slices.Concat(times...)))
	fmt.Printf("%s: %.0f queries/s; median %.2f ms, 99%% within %.2f ms; %.2f ms of CPU time a query; %.1f passages an answer\n", name, float64(len(all))/took.Seconds(),
		ms(all[len(all)/2]), ms(all[len(all)*99/100]), ms(used)/float64(len(all)), float64(found.Load())/float64(len(all)))
	return nil
}

// overHTTP measures the server with a client on this machine.
func overHTTP(ctx context.Context, index *bm25.Index, queries []string, topK int, span time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	address, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- retriever.Serve(ctx, "127.0.0.1:0", index, retriever.ServerOptions{Listening: func(a net.Addr) { address <- a }})
	}()
	c := retriever.DefaultConfig()
	select {
	case a := <-address:
		c.Endpoints = []string{"http://" + a.String() + "/retrieve"}
	case err := <-ended:
		return err
	}
	c.Corpus = "bench"
	client, err := retriever.New(c)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := measure(ctx, "HTTP, 8 at a time", client, queries, topK, 8, span); err != nil {
		return err
	}
	cancel()
	return <-ended
}

func size(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the most memory that this process has had, in MB.
func peak() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Maxrss) / 1e3
}

func mega(bytes int64) float64 { return float64(bytes) / 1e6 }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
