package rows

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Bounds of a Parquet file's footer. A file of 1,000 row groups and 100 columns has some 10 MB.
const (
	maxFooter    = 64 << 20
	maxSchema    = 20_000
	maxFooterSum = 8 << 20 // elements of all lists
)

// checkFooter looks at what the footer claims.
func checkFooter(f io.ReaderAt, size int64) error {
	const tail = 8
	var end [tail]byte
	if size < 4+tail {
		return fmt.Errorf("got a file of %d bytes, which is no Parquet file", size)
	}
	if _, err := f.ReadAt(end[:], size-tail); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	if string(end[4:]) != "PAR1" {
		return fmt.Errorf("got a file that ends in %q, want PAR1: it is no Parquet file, or its end is missing", end[4:])
	}
	if n > size-4-tail || n > maxFooter {
		return fmt.Errorf("got a footer of %d bytes in a file of %d, want at most %d", n, size, maxFooter)
	}
	sum := 0
	w := walker{
		in: bufio.NewReader(io.NewSectionReader(f, size-tail-n, n)),
		list: func(path []int16, n int) error {
			if slices.Equal(path, []int16{2}) && n > maxSchema {
				return fmt.Errorf("got a schema of %d elements, want at most %d", n, maxSchema)
			}
			if sum += n; sum > maxFooterSum {
				return fmt.Errorf("got lists of more than %d elements", maxFooterSum)
			}
			return nil
		},
	}
	if err := w.structure(); err != nil {
		return fmt.Errorf("footer: %w", cutOff(err))
	}
	return nil
}

// maxPageValues bounds the values of a page: they can be nulls, which take no space in the file.
const maxPageValues = 1 << 24

// pageSizes is what the pages of a column chunk claim, the largest of each kind.
type pageSizes struct{ data, dictionary int64 }

// checkPages looks at the headers of all pages of a column chunk.
func checkPages(f io.ReaderAt, size int64, chunk *parquet.FileColumnChunk, most int64) (pageSizes, error) {
	var out pageSizes
	meta := chunk.File().Metadata().RowGroups[chunk.RowGroupIndex()].Columns[chunk.Column()].MetaData
	_ = meta
	return out, errors.New("unused")
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
