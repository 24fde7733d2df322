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

// Bounds of a Parquet file's footer. That of a file with 1,000 row groups and 100 columns has some 10 MB.
const (
	maxFooter         = 64 << 20
	maxSchema         = 20_000
	maxFooterElements = 8 << 20 // of all lists
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
		return fmt.Errorf("got a file that ends in %q, want \"PAR1\": it is no Parquet file, or its end is missing", end[4:])
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
			if sum += n; sum > maxFooterElements {
				return fmt.Errorf("got lists of more than %d elements", maxFooterElements)
			}
			return nil
		},
	}
	if err := w.structure(); err != nil {
		return fmt.Errorf("footer: %w", cutOff(err))
	}
	return nil
}

// maxPageValues bounds the values of a page: nulls take no space in the file.
const maxPageValues = 1 << 24

// checkPages looks at the headers of all pages of a row group, and refuses pages that would take more than so many bytes at a time.
func checkPages(f *parquet.File, group int, most int64) error {
	total := int64(0)
	for i := range f.Metadata().RowGroups[group].Columns {
		meta := &f.Metadata().RowGroups[group].Columns[i].MetaData
		start, length := meta.DataPageOffset, meta.TotalCompressedSize
		if meta.DictionaryPageOffset != 0 {
			start = meta.DictionaryPageOffset
		}
		if start < 0 || length < 0 || start > f.Size() || length > f.Size()-start {
			return fmt.Errorf("column %d: got %d bytes at %d in a file of %d", i, length, start, f.Size())
		}
		largest, err := checkColumn(f, start, start+length, most)
		if err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
		if total += largest; total > most {
			return fmt.Errorf("got pages that take more than %d bytes at a time; write the file with smaller pages", most)
		}
	}
	return nil
}

// checkColumn gives the size of the largest page and the dictionary of a column chunk.
func checkColumn(f io.ReaderAt, start, end, most int64) (int64, error) {
	largest, dictionary := int64(0), int64(0)
	c := cursor{file: f, at: start, end: end}
	for c.at < c.end {
		var kind, plain, packed, values int64
		w := walker{in: &c, number: func(path []int16, v int64) error {
			switch {
			case slices.Equal(path, []int16{1}):
				kind = v
			case slices.Equal(path, []int16{2}):
				plain = v
			case slices.Equal(path, []int16{3}):
				packed = v
			case len(path) == 2 && (path[0] == 5 || path[0] == 7 || path[0] == 8) && path[1] == 1:
				values = max(values, v)
			}
			return nil
		}}
		if err := w.structure(); err != nil {
			return 0, fmt.Errorf("page header: %w", cutOff(err))
		}
		switch {
		case packed < 0 || plain < 0 || packed > c.end-c.at:
			return 0, fmt.Errorf("got a page of %d bytes, %d compressed, with %d left in its column", plain, packed, c.end-c.at)
		case plain > most || packed > most:
			return 0, fmt.Errorf("got a page of %d bytes, want at most %d; write the file with smaller pages", max(plain, packed), most)
		case values > maxPageValues:
			return 0, fmt.Errorf("got a page of %d values, want at most %d", values, maxPageValues)
		}
		if kind == dictionaryPage {
			dictionary = max(dictionary, plain)
		} else {
			largest = max(largest, plain)
		}
		c.at += packed
	}
	return largest + dictionary, nil
}

const dictionaryPage = 2

// cursor reads a file from a place on, little at a time.
type cursor struct {
	file    io.ReaderAt
	at, end int64 // of what is read next
	buf     [256]byte
	from    int64 // where buf begins
	filled  int64
}

func (c *cursor) ReadByte() (byte, error) {
	if c.at >= c.end {
		return 0, io.EOF
	}
	if c.at < c.from || c.at >= c.from+c.filled {
		n, err := c.file.ReadAt(c.buf[:min(int64(len(c.buf)), c.end-c.at)], c.at)
		if n == 0 {
			return 0, err
		}
		c.from, c.filled = c.at, int64(n)
	}
	b := c.buf[c.at-c.from]
	c.at++
	return b, nil
}

func (c *cursor) Discard(n int) (int, error) {
	if int64(n) > c.end-c.at {
		return 0, io.EOF
	}
	c.at += int64(n)
	return n, nil
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
