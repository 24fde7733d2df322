package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// record is a row of the files: some 800 bytes, in the layout of verl's data.
type record struct {
	ID       int64  `json:"id" parquet:"id"`
	Question string `json:"question" parquet:"question"`
	Answer   string `json:"answer" parquet:"answer,optional"`
	Info     struct {
		Split string   `json:"split" parquet:"split,dict"`
		Tags  []string `json:"tags" parquet:"tags,list"`
	} `json:"extra_info" parquet:"extra_info"`
}

// words draws words of letters, so that the text is not easy to compress.
func words(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		for range 2 + r.IntN(8) {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// generate writes a file of so much JSON text and tells how much it was exactly.
func generate(path string, bytes int64) (text int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	write, finish, err := writer(path, f)
	if err != nil {
		return 0, err
	}
	r := rand.New(rand.NewPCG(1, 2))
	pool := make([]string, 1000)
	for i := range pool {
		pool[i] = words(r, 100)
	}
	for id := int64(0); text < bytes; id++ {
		x := record{ID: id, Question: pool[r.IntN(len(pool))], Answer: words(r, 20)}
		x.Info.Split, x.Info.Tags = "train", []string{"a", "b"}
		line, err := json.Marshal(x)
		if err != nil {
			return 0, err
		}
		text += int64(len(line)) + 1
		if err := write(x, line); err != nil {
			return 0, err
		}
	}
	return text, finish()
}

// writer gives what writes a row in the format of the name, and what ends the file.
func writer(path string, f io.Writer) (write func(x record, line []byte) error, finish func() error, err error) {
	if strings.HasSuffix(path, ".parquet") {
		options := []parquet.WriterOption{parquet.MaxRowsPerRowGroup(100_000)}
		if strings.HasSuffix(path, "zstd.parquet") {
			options = append(options, parquet.Compression(&parquet.Zstd))
		}
		w := parquet.NewGenericWriter[record](f, options...)
		return func(x record, _ []byte) error { _, err := w.Write([]record{x}); return err }, w.Close, nil
	}
	closers := []func() error{}
	out := f
	switch {
	case strings.HasSuffix(path, ".gz"):
		z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
		if err != nil {
			return nil, nil, err
		}
		out, closers = z, append(closers, z.Close)
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewWriter(f)
		if err != nil {
			return nil, nil, err
		}
		out, closers = z, append(closers, z.Close)
	}
	b := bufio.NewWriterSize(out, 1<<20)
	finish = func() error {
		err := b.Flush()
		for _, c := range closers {
			if e := c(); err == nil {
				err = e
			}
		}
		return err
	}
	if strings.Contains(path, ".csv") {
		if _, err := b.WriteString("id,question,answer\n"); err != nil {
			return nil, nil, err
		}
		return func(x record, _ []byte) error {
			_, err := fmt.Fprintf(b, "%d,\"%s\",%s\n", x.ID, x.Question, x.Answer)
			return err
		}, finish, nil
	}
	return func(_ record, line []byte) error { _, err := b.Write(append(line, '\n')); return err }, finish, nil
}
