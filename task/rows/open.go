package rows

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-095d5d2b/whale/task"
)

// openSource opens a file by its name.
func openSource(path string, o Options) (s source, err error) {
	format, compression, err := formatOf(path, o.Format)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, task.Away(err)
	}
	defer func() {
		if err != nil {
			f.Close()
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("got a folder, want a file")
	}
	if format == FormatParquet {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("got no regular file, which Parquet needs")
		}
		return openParquet(f, info.Size(), o)
	}
	stream, err := decompress(f, compression)
	if err != nil {
		return nil, err
	}
	if format == FormatCSV {
		return openCSV(stream, o.RowBytes)
	}
	return openJSONL(stream, o.RowBytes), nil
}

func formatOf(path string, want Format) (format Format, compression string, err error) {
	name := strings.ToLower(filepath.Base(path))
	compression = filepath.Ext(name)
	switch compression {
	case ".gz", ".zst":
		name = strings.TrimSuffix(name, compression)
	default:
		compression = ""
	}
	switch want {
	case FormatAuto:
		switch filepath.Ext(name) {
		case ".jsonl", ".ndjson":
			format = FormatJSONL
		case ".csv":
			format = FormatCSV
		case ".parquet":
			format = FormatParquet
		default:
			return "", "", fmt.Errorf("%s: got a file of unknown kind, want .jsonl or .csv (plain, .gz or .zst) or .parquet", path)
		}
	case FormatJSONL, FormatCSV, FormatParquet:
		format = want
	default:
		return "", "", fmt.Errorf("%s: got format %q, want jsonl, csv or parquet", path, want)
	}
	if format == FormatParquet && compression != "" {
		return "", "", fmt.Errorf("%s: got a compressed Parquet file, want it plain: it is compressed inside", path)
	}
	return format, compression, nil
}

// maxWindow bounds what a zstd stream may want to remember; it is what the zstd program takes unless told otherwise.
const maxWindow = 128 << 20

// decompress gives the text of a file, which it closes.
func decompress(f *os.File, compression string) (io.ReadCloser, error) {
	switch compression {
	case ".gz":
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, err
		}
		return stream{z, func() error { z.Close(); return f.Close() }}, nil
	case ".zst":
		// One decoder at a time does without goroutines.
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return stream{z, func() error { z.Close(); return f.Close() }}, nil
	}
	return f, nil
}

type stream struct {
	io.Reader
	closing func() error
}

func (s stream) Close() error { return s.closing() }
