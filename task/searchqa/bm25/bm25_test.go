package bm25

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-095d5d2b/whale/task/searchqa/corpus"
	"github.com/seed-095d5d2b/whale/task/searchqa/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stream gives passages one by one.
func stream(list []corpus.Passage) func() (corpus.Passage, error) {
	return func() (corpus.Passage, error) {
		if len(list) == 0 {
			return corpus.Passage{}, io.EOF
		}
		p := list[0]
		list = list[1:]
		return p, nil
	}
}

// both makes the index in memory and on disk.
func both(t *testing.T, list []corpus.Passage, analyzer string) (memory, disk *Index) {
	t.Helper()
	memory, err := New(t.Context(), list, analyzer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	dir := filepath.Join(t.TempDir(), "index")
	if err := Build(t.Context(), dir, stream(list), BuildOptions{Analyzer: analyzer}); err != nil {
		t.Fatal(err)
	}
	if disk, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	return memory, disk
}

// draw makes passages of a few words, so that equal scores are common.
func draw(seed uint64, n int) []corpus.Passage {
	r := rand.New(rand.NewPCG(seed, 1))
	word := func() string { return fmt.Sprintf("w%d", min(r.IntN(30), r.IntN(30))) }
	list := make([]corpus.Passage, n)
	for i := range list {
		words := make([]string, 1+r.IntN(6))
		for j := range words {
			words[j] = word()
		}
		list[i] = corpus.Passage{ID: fmt.Sprintf("p%d", i%7), Title: word(), Text: strings.Join(words, " ")}
	}
	return list
}

// naive is BM25 as the books have it, in a few lines: the twin that both indexes are compared with.
func naive(list []corpus.Passage, query string, k int) []corpus.Hit {
	split := func(s string) []string { return strings.Fields(strings.ToLower(s)) }
	docs := make([][]string, len(list))
	total := 0
	for i, p := range list {
		docs[i] = split(p.Title + "\n" + p.Text)
		total += len(docs[i])
	}
	average := float64(total) / float64(len(list))
	type scored struct {
		at    int
		score float64
	}
	var all []scored
	for at, d := range docs {
		score := 0.0
		for _, term := range split(query) {
			with := 0.0
			for _, other := range docs {
				if slices.Contains(other, term) {
					with++
				}
			}
			tf := 0.0
			for _, w := range d {
				if w == term {
					tf++
				}
			}
			idf := math.Log(1 + (float64(len(docs))-with+0.5)/(with+0.5))
			score += idf * tf * 2.2 / (tf + 1.2*(1-0.75+0.75*float64(len(d))/average))
		}
		if score > 0 {
			all = append(all, scored{at, score})
		}
	}
	// Scores that differ by rounding alone are equal.
	slices.SortStableFunc(all, func(a, b scored) int {
		if math.Abs(a.score-b.score) < 1e-9 {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(b.score, a.score)
	})
	hits := []corpus.Hit{}
	for _, s := range all[:min(k, len(all))] {
		hits = append(hits, corpus.Hit{Passage: list[s.at], Score: s.score})
	}
	return hits
}

// skewed makes passages whose words are as unevenly common as those of a language, so that a walk leaves most documents out.
func skewed(seed uint64, n int) []corpus.Passage {
	r := rand.New(rand.NewPCG(seed, 2))
	list := make([]corpus.Passage, n)
	for i := range list {
		words := make([]string, 5+r.IntN(20))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", int(1000*math.Pow(r.Float64(), 5)))
		}
		list[i] = corpus.Passage{ID: fmt.Sprint(i), Text: strings.Join(words, " ")}
	}
	return list
}

func TestPruning(t *testing.T) {
	memory, disk := both(t, skewed(1, 4000), Plain)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"w0", "w0 w0", "w1", "w2", "w5", "w17", "w90", "w200", "w333", "w501", "w700", "w850", "w999", "w1000", "never"}), 1, 7).Draw(t, "words")
		k := rapid.SampledFrom([]int{1, 2, 3, 10, 100}).Draw(t, "k")
		query := strings.Join(words, " ")
		a, err := memory.Search(context.Background(), query, k)
		if err != nil {
			t.Fatal(err)
		}
		b, err := disk.Search(context.Background(), query, k)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%q, %d: got\n%v in memory,\n%v on disk", query, k, a, b)
		}
	})
}

// The index in memory and the one on disk give the same, to the bit, and what the naive twin gives up to rounding.
func TestTwins(t *testing.T) {
	list := draw(1, 1500) // more than one batch of bleve's builder
	memory, disk := both(t, list, Plain)
	if memory.ID() != disk.ID() || memory.Len() != disk.Len() {
		t.Errorf("got %s (%d) in memory, %s (%d) on disk", memory.ID(), memory.Len(), disk.ID(), disk.Len())
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.IntRange(0, 35), 1, 5).Draw(t, "words")
		k := rapid.SampledFrom([]int{1, 2, 5, 20}).Draw(t, "k")
		query := ""
		for _, w := range words {
			query += fmt.Sprintf("W%d ", w)
		}
		a, err := memory.Search(context.Background(), query, k)
		if err != nil {
			t.Fatal(err)
		}
		b, err := disk.Search(context.Background(), query, k)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%q: got\n%v in memory,\n%v on disk", query, a, b)
		}
	})
	for _, query := range []string{"w0", "w5 w7", "w29 w0 w0", "w1 w2 w3 w4", "unknown"} {
		got, err := memory.Search(t.Context(), query, 10)
		if err != nil {
			t.Fatal(err)
		}
		want := naive(list, query, 10)
		if len(got) != len(want) {
			t.Fatalf("%q: got %d hits, want %d", query, len(got), len(want))
		}
		for i := range got {
			if math.Abs(got[i].Score-want[i].Score) > 1e-9*want[i].Score || got[i].Passage != want[i].Passage {
				t.Errorf("%q: hit %d: got %v, want %v", query, i, got[i], want[i])
			}
		}
	}
}

// Equal scores stand in the order of the passages, also where the list is cut among them.
func TestTies(t *testing.T) {
	var list []corpus.Passage
	for i := range 300 {
		list = append(list, corpus.Passage{ID: fmt.Sprint(i), Title: "same", Text: "text"})
	}
	memory, disk := both(t, list, Plain)
	for _, x := range []*Index{memory, disk} {
		hits, err := x.Search(t.Context(), "text", 5)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hits {
			if h.ID != fmt.Sprint(i) {
				t.Errorf("hit %d: got passage %s", i, h.ID)
			}
		}
		if len(hits) != 5 {
			t.Errorf("got %d hits, want 5", len(hits))
		}
	}
}

// Many searches at once give what each gives alone.
func TestConcurrency(t *testing.T) {
	memory, disk := both(t, draw(2, 400), Plain)
	fresh, err := New(t.Context(), draw(2, 400), Plain)
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			query := fmt.Sprintf("w%d w%d", i%10, i%13)
			want, err := fresh.Search(t.Context(), query, 5)
			if err != nil {
				t.Error(err)
			}
			for _, x := range []*Index{memory, disk} {
				got, err := x.Search(t.Context(), query, 5)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%q: got %v (%v), want %v", query, got, err, want)
				}
			}
		})
	}
	group.Wait()
}

func TestAnalyzers(t *testing.T) {
	list := []corpus.Passage{
		{ID: "1", Title: "Rivers", Text: "The rivers of the north were running high."},
		{ID: "2", Title: "Mills", Text: "A mill's wheel."},
	}
	plain, _ := both(t, list, Plain)
	english, _ := both(t, list, English)
	for _, tc := range []struct {
		query          string
		plain, english int
	}{
		{"river", 0, 1}, {"run", 0, 1}, {"the", 1, 0}, {"mill", 0, 1}, {"RIVERS", 1, 1}, {"", 0, 0}, {"?!", 0, 0},
	} {
		for name, x := range map[string]*Index{Plain: plain, English: english} {
			want := tc.plain
			if name == English {
				want = tc.english
			}
			hits, err := x.Search(t.Context(), tc.query, 5)
			if err != nil || len(hits) != want {
				t.Errorf("%s: %q: got %d hits (%v), want %d", name, tc.query, len(hits), err, want)
			}
		}
	}
	if plain.ID() == english.ID() {
		t.Error("two analyzers, one id")
	}
}

// The article that a question is about is found by its name: nearly always first, always among the first five; the question itself finds it less often.
func TestGoldIsFound(t *testing.T) {
	w, err := world.Generate(world.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var list []corpus.Passage
	for _, a := range w.Articles {
		list = append(list, corpus.Passage{ID: a.ID, Title: a.Title, Text: a.Text})
	}
	x, err := New(t.Context(), list, Plain)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	rank := func(query, title string) int {
		hits, err := x.Search(t.Context(), query, 5)
		if err != nil {
			t.Fatal(err)
		}
		return slices.IndexFunc(hits, func(h corpus.Hit) bool { return h.Title == title })
	}
	var n, first, five, byQuestion float64
	for _, questions := range w.Questions {
		for _, q := range questions {
			for _, h := range q.Hops {
				n++
				switch at := rank(h.Title, h.Title); {
				case at == 0:
					first++
					five++
				case at > 0:
					five++
				}
			}
			if rank(q.Text, q.Hops[0].Title) == 0 {
				byQuestion++
			}
		}
	}
	asked := 0.0
	for _, questions := range w.Questions {
		asked += float64(len(questions))
	}
	t.Logf("by name: first %.3f, among five %.3f; by question: first %.3f", first/n, five/n, byQuestion/asked)
	if first/n < 0.9 || five/n < 0.99 || byQuestion/asked > 0.7 || byQuestion/asked < 0.3 {
		t.Errorf("by name: first %.3f, among five %.3f; by question: first %.3f; want at least 0.9 and 0.99; 0.3 to 0.7", first/n, five/n, byQuestion/asked)
	}
}

func TestErrors(t *testing.T) {
	good := []corpus.Passage{{ID: "1", Text: "x"}}
	x, err := New(t.Context(), good, Plain)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, k := range []int{0, -1, MaxHits + 1} {
		if _, err := x.Search(t.Context(), "x", k); err == nil {
			t.Errorf("k = %d: got no error", k)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ended, "x", 1); err == nil {
		t.Error("a context that has ended: got no error")
	}
	if _, err := New(t.Context(), nil, Plain); err == nil {
		t.Error("no passages: got no error")
	}
	if _, err := New(t.Context(), good, "german"); err == nil || !strings.Contains(err.Error(), "german") {
		t.Errorf("got %v, want an error about the analyzer", err)
	}
	if _, err := New(t.Context(), []corpus.Passage{{ID: "1"}}, Plain); err == nil || !strings.Contains(err.Error(), "passage 1") {
		t.Errorf("got %v, want an error about passage 1", err)
	}
	// A query of many terms is cut, not refused.
	if hits, err := x.Search(t.Context(), strings.Repeat("a b c d e ", 10_000)+" x", 1); err != nil || len(hits) != 1 {
		t.Errorf("got %v, %v", hits, err)
	}
}

// An index is there whole, or not at all.
func TestBuild(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "sub", "index")
	fail := fmt.Errorf("row 17 is bad")
	n := 0
	err := Build(t.Context(), dir, func() (corpus.Passage, error) {
		if n++; n > 2500 {
			return corpus.Passage{}, fail
		}
		return corpus.Passage{ID: fmt.Sprint(n), Text: "x"}, nil
	}, BuildOptions{Analyzer: Plain})
	if err != fail {
		t.Errorf("got %v, want the error of the source", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = Build(ctx, dir, func() (corpus.Passage, error) {
		cancel()
		return corpus.Passage{ID: "1", Text: "x"}, nil
	}, BuildOptions{Analyzer: Plain})
	if err != context.Canceled {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	if err := Build(t.Context(), dir, stream(nil), BuildOptions{Analyzer: Plain}); err == nil {
		t.Error("no passages: got no error")
	}
	if list, err := os.ReadDir(filepath.Join(parent, "sub")); err != nil || len(list) > 0 {
		t.Errorf("got %v (%v) left, want nothing", list, err)
	}
	var told []int
	if err := Build(t.Context(), dir, stream(draw(3, 300)), BuildOptions{Analyzer: English, Progress: func(n int) { told = append(told, n) }}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []int{300}) {
		t.Errorf("got progress %v, want the end", told)
	}
	if err := Build(t.Context(), dir, stream(draw(3, 3)), BuildOptions{Analyzer: English}); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("got %v, want that it is there already", err)
	}
	if _, err := Open(parent); err == nil || !strings.Contains(err.Error(), "no index") {
		t.Errorf("got %v, want that there is no index", err)
	}
	manifest := filepath.Join(dir, manifestName)
	whole, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ from, to, err string }{
		{`"version": 1`, `"version": 2`, "got version 2"}, {`"passages": 300`, `"passages": 299`, "300 passages in the segments"}, {"{", "[", "manifest.json"},
		{`"english"`, `"welsh"`, "welsh"}, {`"tokens"`, `"other"`, "incomplete"},
	} {
		if err := os.WriteFile(manifest, []byte(strings.Replace(string(whole), tc.from, tc.to, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if x, err := Open(dir); err == nil || !strings.Contains(err.Error(), tc.err) {
			t.Errorf("got %v, want an error with %q", err, tc.err)
			if x != nil {
				x.Close()
			}
		}
	}
}

// Two processes (here: two openings) read one index at a time.
func TestOpenTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	if err := Build(t.Context(), dir, stream(draw(4, 50)), BuildOptions{Analyzer: Plain}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		x, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
	}
}
