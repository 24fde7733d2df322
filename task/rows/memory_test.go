package rows

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// A file of 40 MiB goes through a heap that stays below 32 MiB in every format. bench/readers does it with a gigabyte.
func TestMemory(t *testing.T) {
	const rows, most = 40_000, 32 << 20
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		return strings.Repeat(fmt.Sprintf("%016x ", r.Uint64()), 60)
	}
	type row struct {
		A string   `parquet:"a"`
		B []string `parquet:"b,list"`
	}
	for _, name := range []string{"a.jsonl", "a.jsonl.gz", "a.csv.zst", "a.parquet"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			var out io.Writer = f
			var ends []io.Closer
			switch filepath.Ext(name) {
			case ".gz":
				z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
				if err != nil {
					t.Fatal(err)
				}
				out, ends = z, []io.Closer{z}
			case ".zst":
				z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
				if err != nil {
					t.Fatal(err)
				}
				out, ends = z, []io.Closer{z}
			}
			if name == "a.parquet" {
				w := parquet.NewGenericWriter[row](f, parquet.MaxRowsPerRowGroup(20_000))
				for range rows {
					if _, err := w.Write([]row{{word(), []string{"x"}}}); err != nil {
						t.Fatal(err)
					}
				}
				ends = []io.Closer{w}
			} else {
				var b bytes.Buffer
				b.WriteString("{}\n")
				form := "{\"a\": \"%s\", \"b\": [\"x\"]}\n"
				if strings.Contains(name, "csv") {
					b.Reset()
					b.WriteString("a,b\n")
					form = "%s,x\n"
				}
				for range rows {
					fmt.Fprintf(&b, form, word())
					if b.Len() > 1<<20 {
						if _, err := b.WriteTo(out); err != nil {
							t.Fatal(err)
						}
					}
				}
				if _, err := b.WriteTo(out); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range append(ends, f) {
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
			}
			peak, n := readPeak(t, path)
			if n < rows || peak > most {
				t.Errorf("got %d rows and a heap of %d MiB, want at least %d and at most %d", n, peak>>20, rows, most>>20)
			}
			t.Logf("%d rows, heap %d MiB", n, peak>>20)
		})
	}
}

// readPeak reads a file and gives how large the heap became, and how many rows there were.
func readPeak(t *testing.T, path string) (peak uint64, n int) {
	t.Helper()
	runtime.GC()
	runtime.GC() // what pools keep goes with the second
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for ; ; n++ {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return peak, n
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := row.JSON("a"); n > 0 && !ok {
			t.Fatal("got a row without its field")
		}
		if n%500 == 0 {
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapInuse-min(now.HeapInuse, before.HeapInuse))
		}
	}
}
