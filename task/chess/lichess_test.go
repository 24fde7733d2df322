package chess

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	whale "github.com/seed-095d5d2b/whale"
)

const header = "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n"

// row writes a row as Lichess does.
func row(id, fen, moves string, rating int, themes string) string {
	return fmt.Sprintf("%s,%s,%s,%d,75,95,1000,%s,https://lichess.org/x,\n", id, fen, moves, rating, themes)
}

// generatedRows writes rows of distinct positions: those of generated puzzles, with any legal move as the trigger and any legal answer as the solution.
func generatedRows(t testing.TB, n int) (rows []string) {
	t.Helper()
	g := generator(t, func(o *GeneratorOptions) { o.Mix = Mix{Mate1: 1} })
	puzzles, err := g.Pretrain(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range puzzles {
		at := parse(t, p.FEN)
		for m, q := range at.Next() {
			for answer := range q.Next() {
				rows = append(rows, row(fmt.Sprintf("%05d", i), p.FEN, m.String()+" "+answer.String(), 600+10*i, "short mate"))
				break
			}
			if len(rows) > i {
				break
			}
		}
	}
	return rows
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	data := []byte(text)
	if strings.HasSuffix(name, ".zst") {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func lichess(counts Counts, files ...string) Config {
	c := DefaultConfig()
	c.Source = SourceLichess
	c.Lichess.Files = files
	c.Lichess.Counts = counts
	return c
}

// readAll reads the puzzles of files that pass the filters.
func readAll(t testing.TB, o LichessOptions) (*sampler, []string, error) {
	t.Helper()
	s := newSampler(o.Seed, Counts{Train: 1000, Search: 1000, Validation: 1000, Test: 1000})
	notes, err := readLichess(t.Context(), o, s)
	return s, notes, err
}

func size(s *sampler) (n int) {
	for _, k := range s.kept {
		n += len(k.items)
	}
	return n
}

func TestHostileRows(t *testing.T) {
	good := row("good1", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7d6 a1a8", 700, "mate mateIn1")
	for _, c := range []struct{ name, bad, want string }{
		{"no FEN", row("x", "", "e7d6 a1a8", 700, "mate"), "fen"},
		{"a FEN of nonsense", row("x", "queen to e3", "e7d6 a1a8", 700, "mate"), "got 3 fields"},
		{"a FEN without kings", row("x", "8/8/8/8/8/8/8/8 w - - 0 1", "e7d6 a1a8", 700, "mate"), "0 kings"},
		{"bytes that are no text", row("x", "6k1/4bppp/8/8/8/8/8/\xff\xfe b - - 0 1", "e7d6 a1a8", 700, "mate"), "UTF-8"},
		{"a huge field", row("x", strings.Repeat("8/", 1<<16), "e7d6 a1a8", 700, "mate"), "row 2"},
		{"a long FEN", row("x", strings.Repeat("8/", 1<<10), "e7d6 a1a8", 700, "mate"), "want at most 100"},
		{"no moves", row("x", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "", 700, "mate"), "got 0 moves"},
		{"a trigger alone", row("x", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7d6", 700, "mate"), "got 1 moves"},
		{"a line that ends with the opponent", row("x", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7d6 a1a7 d6f8", 700, "mate"), "got 3 moves"},
		{"a thousand moves", row("x", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", strings.Repeat("e7d6 ", 1000), 700, "mate"), "got 1000 moves"},
		{"a trigger that is illegal", row("x", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7e6 a1a8", 700, "mate"), "e7e6, which is not legal"},
		{"a solution that is illegal", row("x", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7d6 a1b8", 700, "mate"), "a1b8, which is not legal"},
		{"a solution in SAN", row("x", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7d6 Ra8#", 700, "mate"), `got "Ra8#"`},
		{"a rating that is none", strings.Replace(row("x", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7d6 a1a8", 700, "mate"), ",700,", ",high,", 1), `Rating: got "high"`},
		{"too few columns", "x,6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1,e7d6 a1a8\n", "got 3 values"},
		{"too many columns", strings.TrimSuffix(good, "\n") + ",,,,\n", "values"},
	} {
		path := writeFile(t, "puzzles.csv", header+good+c.bad)
		o := lichess(Counts{}, path).Lichess
		if _, _, err := readAll(t, o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "row 2") || len(err.Error()) > 700 {
			t.Errorf("%s: got error %v, want one that names the file, row 2 and %q", c.name, err, c.want)
		}
		o.MaxBad = 0.5
		s, notes, err := readAll(t, o)
		if err != nil || size(s) != 1 || len(notes) != 1 || !strings.Contains(notes[0], "skipped 1 bad rows of 2") || !strings.Contains(notes[0], "row 2") {
			t.Errorf("%s: tolerated: got %d puzzles, notes %q, %v", c.name, size(s), notes, err)
		}
	}
}

func TestBadShare(t *testing.T) {
	rows := generatedRows(t, 40)
	var many strings.Builder
	many.WriteString(header)
	for i := range 2000 {
		many.WriteString(rows[i%len(rows)])
	}
	bad := row("bad", "5rk1/5ppp/8/8/8/8/8/R3K3 b - - 0 1", "a1a2 a1a8", 700, "mate")
	for _, c := range []struct {
		bad    int
		maxBad float64
		fails  bool
	}{{2, 0.001, false}, {3, 0.001, true}, {1, 0, true}, {0, 0, false}, {30, 0.02, false}} {
		o := lichess(Counts{}, writeFile(t, "puzzles.csv", many.String()+strings.Repeat(bad, c.bad))).Lichess
		o.MaxBad = c.maxBad
		s, _, err := readAll(t, o)
		if (err != nil) != c.fails {
			t.Errorf("%d bad rows of %d with max_bad %v: got %v", c.bad, 2000+c.bad, c.maxBad, err)
		}
		if err == nil && (size(s) != len(rows) || s.repeats != 2000-len(rows)) {
			t.Errorf("got %d puzzles and %d repetitions, want %d and %d", size(s), s.repeats, len(rows), 2000-len(rows))
		}
	}
}

func TestHeader(t *testing.T) {
	good := row("good1", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7d6 a1a8", 700, "mate")
	// An extra column, and the columns in another order.
	path := writeFile(t, "puzzles.csv.zst", "Themes,DailyDate,Moves,PuzzleId,FEN,Rating\nmate mateIn1,2024-01-01,e7d6 a1a8,abc,6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1,700\n")
	s, notes, err := readAll(t, lichess(Counts{}, path).Lichess)
	if err != nil || size(s) != 1 || notes != nil {
		t.Fatalf("got %d puzzles, notes %q, %v", size(s), notes, err)
	}
	for _, k := range s.kept {
		for _, item := range k.items {
			x := item.example
			if want := "6k1/5ppp/3b4/8/8/8/8/R3K3 w - - 1 2"; x.View[viewFEN] != want || x.View[viewSide] != "White" || string(x.Answer) != `{"trigger":"e7d6","line":["a1a8"]}` {
				t.Errorf("got view %v and answer %s, want %s", x.View, x.Answer, want)
			}
			if want := map[string]string{MetaKind: "mate", MetaThemes: "mate mateIn1", MetaRating: "700", MetaSource: "puzzles.csv.zst", MetaSourceID: "abc", MetaMoves: "1"}; !reflect.DeepEqual(x.Meta, want) {
				t.Errorf("got meta %v, want %v", x.Meta, want)
			}
		}
	}
	for name, text := range map[string]string{"no header": good, "a column short": strings.Replace(header, "Themes", "Topics", 1) + good} {
		if _, _, err := readAll(t, lichess(Counts{}, writeFile(t, "puzzles.csv", text+good)).Lichess); err == nil || !strings.Contains(err.Error(), "header") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := New(t.Context(), lichess(Counts{Test: 1}, filepath.Join(t.TempDir(), "absent.csv"))); err == nil || !strings.Contains(err.Error(), "lichess.files") {
		t.Errorf("an absent file: got %v", err)
	}
}

func TestFilters(t *testing.T) {
	fen := "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1"
	path := writeFile(t, "puzzles.csv", header+
		row("a", fen, "e7d6 a1a8", 500, "mate mateIn1")+
		row("b", fen, "e7c5 a1a8", 1500, "mate endgame")+
		row("c", fen, "e7b4 e1e2 b4c5 a1a8", 1500, "endgame crushing"))
	for _, c := range []struct {
		set  func(o *LichessOptions)
		want int
	}{
		{func(*LichessOptions) {}, 3},
		{func(o *LichessOptions) { o.Rating = Range{Min: 501} }, 2},
		{func(o *LichessOptions) { o.Rating = Range{Max: 1499} }, 1},
		{func(o *LichessOptions) { o.Rating = Range{500, 500} }, 1},
		{func(o *LichessOptions) { o.Moves = Range{1, 1} }, 2},
		{func(o *LichessOptions) { o.Moves = Range{Min: 2} }, 1},
		{func(o *LichessOptions) { o.Themes = []string{"mate"} }, 2},
		{func(o *LichessOptions) { o.Themes = []string{"mateIn1", "crushing"} }, 2},
		{func(o *LichessOptions) { o.Themes, o.Without = []string{"mate"}, []string{"endgame"} }, 1},
		{func(o *LichessOptions) { o.Themes = []string{"Mate"} }, 0},
	} {
		o := lichess(Counts{}, path).Lichess
		c.set(&o)
		if s, _, err := readAll(t, o); err != nil || size(s) != c.want {
			t.Errorf("%+v: got %d puzzles (%v), want %d", o, size(s), err, c.want)
		}
	}
}

// TestSample: the sample depends neither on the order of the rows nor on their files, grows by adding, and has no position in two splits.
func TestSample(t *testing.T) {
	rows := generatedRows(t, 120)
	whole := writeFile(t, "all.csv", header+strings.Join(rows, ""))
	ids := func(failing interface{ Fatal(...any) }, c Config) map[whale.Split][]string {
		task, err := New(t.Context(), c)
		if err != nil {
			failing.Fatal(err)
		}
		out := map[whale.Split][]string{}
		for _, s := range splits() {
			for _, x := range task.examples[s] {
				out[s] = append(out[s], x.ID)
			}
		}
		return out
	}
	few, more := Counts{Train: 10, Search: 3, Validation: 3, Test: 3}, Counts{Train: 30, Search: 6, Validation: 3, Test: 0}
	want := ids(t, lichess(few, whole))
	seen := map[string]whale.Split{}
	for s, list := range want {
		for _, id := range list {
			if before, ok := seen[id]; ok {
				t.Errorf("%s is in %s and in %s", id, before, s)
			}
			seen[id] = s
		}
	}
	grown := ids(t, lichess(more, whole))
	for s, list := range want {
		if n := min(len(list), len(grown[s])); !slices.Equal(list[:n], grown[s][:n]) {
			t.Errorf("%s: a larger sample does not start with the smaller", s)
		}
	}
	other := lichess(few, whole)
	other.Lichess.Seed = 2
	for s, list := range ids(t, other) {
		if reflect.DeepEqual(list, want[s]) {
			t.Errorf("%s: got the same sample for another seed", s)
		}
		for _, id := range list {
			if before, ok := seen[id]; ok && before != s {
				t.Errorf("%s is in %s with one seed and in %s with another", id, before, s)
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		shuffled := rapid.Permutation(rows).Draw(rt, "order")
		cut := rapid.IntRange(1, len(rows)-1).Draw(rt, "cut")
		a := writeFile(t, "a.csv", header+strings.Join(shuffled[:cut], ""))
		b := writeFile(t, "b.csv.zst", header+strings.Join(shuffled[cut:], "")+shuffled[0])
		if got := ids(rt, lichess(few, a, b)); !reflect.DeepEqual(got, want) {
			rt.Fatalf("got another sample: %v, want %v", got, want)
		}
	})
	if _, err := New(t.Context(), lichess(Counts{Test: 1000}, whole)); err == nil || !strings.Contains(err.Error(), "lichess.counts.test: got ") || !strings.Contains(err.Error(), "want 1000") {
		t.Errorf("more than there is: got %v", err)
	}
}

// TestMemory streams a file much larger than what is kept of it.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 20 MB")
	}
	rows := generatedRows(t, 60)
	var text strings.Builder
	text.WriteString(header)
	for i := 0; text.Len() < 20<<20; i++ {
		text.WriteString(strings.TrimSuffix(rows[i%len(rows)], "\n") + strings.Repeat("x", 2000) + "\n")
	}
	path := writeFile(t, "big.csv.zst", text.String())
	text.Reset()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, _, err := readAll(t, lichess(Counts{}, path).Lichess)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); size(s) != 60 || kept > 4<<20 {
		t.Errorf("got %d puzzles and %d bytes kept, want 60 and little", size(s), kept)
	}
}

func FuzzRows(f *testing.F) {
	good := row("good1", "6k1/4bppp/8/8/8/8/8/R3K3 b - - 0 1", "e7d6 a1a8", 700, "mate mateIn1")
	for _, s := range []string{good, "", "\"", "a,b\n", strings.Replace(good, "e7d6", "e7d6q", 1), strings.Replace(good, "6k1", "\"6k1", 1), "\x00,,,,,\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "puzzles.csv")
		if err := os.WriteFile(path, []byte(header+text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := lichess(Counts{}, path).Lichess
		o.MaxBad = 1
		s, _, err := readAll(t, o)
		if err != nil {
			return
		}
		for _, k := range s.kept { // what is kept can be played
			for _, item := range k.items {
				g, err := newGame(item.example, Retries{}, false)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range solution(lineOf(t, item.example)) {
					if _, err := g.play(m); err != nil {
						t.Fatal(err)
					}
				}
				if g.status != StatusSolved {
					t.Fatalf("%s: got %s", item.example.Answer, g.status)
				}
			}
		}
	})
}
