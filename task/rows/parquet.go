package rows

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// parquetFile reads the columns of one row group after the other side by side, page by page. The library is made for files that one trusts: what it
// would do with false claims of sizes is kept off by checkFooter and checkPages, and its panics end here.
type parquetFile struct {
	file    *os.File
	parquet *parquet.File
	root    *field
	options Options

	group   int // of row groups, the next to open
	left    int64
	columns []*column
	build   assemble
	number  int64
}

func openParquet(f *os.File, size int64, o Options) (s source, err error) {
	defer recovered(&err)
	if err := checkFooter(f, size); err != nil {
		return nil, err
	}
	p := &parquetFile{file: f, options: o, build: assemble{most: o.RowBytes}}
	p.parquet, err = parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.FileReadMode(parquet.ReadModeSync),
		parquet.ReadBufferSize(64<<10))
	if err != nil {
		return nil, err
	}
	leaves := 0
	root := p.parquet.Root()
	if root.Leaf() {
		return nil, errors.New("got a schema whose root is a column")
	}
	if p.root, err = newField("", rootNode{root}, 0, 0, &leaves); err != nil {
		return nil, err
	}
	p.columns = make([]*column, leaves)
	p.build.columns = make([][]parquet.Value, leaves)
	return p, nil
}

// recovered turns a panic of the library into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged Parquet file: %s", oneLine(fmt.Sprint(r)))
	}
}

func (p *parquetFile) next() (f fields, number int64, err error) {
	defer recovered(&err)
	for p.left == 0 {
		p.closeColumns()
		if p.group == len(p.parquet.RowGroups()) {
			return nil, p.number, io.EOF
		}
		if err := p.openGroup(); err != nil {
			return nil, p.number, fmt.Errorf("row group %d: %w", p.group, err)
		}
	}
	p.left--
	p.number++
	long := false
	for i, c := range p.columns {
		values, complete, err := c.row()
		if err != nil {
			return nil, p.number, fmt.Errorf("column %d: %w", i, err)
		}
		p.build.columns[i] = values
		long = long || !complete
	}
	if p.left == 0 {
		for i, c := range p.columns {
			if _, err := c.peek(); !errors.Is(err, io.EOF) {
				return nil, p.number, fmt.Errorf("column %d: got values after the last row of its row group", i)
			}
		}
	}
	if long {
		return nil, p.number, badf("got more than %d values in a column", maxRowValues)
	}
	f, err = p.build.row(p.root)
	switch {
	case errors.Is(err, errLong):
		return nil, p.number, badf("got a row of more than %d bytes", p.options.RowBytes)
	case errors.Is(err, errRagged):
		return nil, p.number, err
	case err != nil:
		return nil, p.number, &badRow{err}
	}
	return f, p.number, nil
}

func (p *parquetFile) openGroup() error {
	group := p.parquet.RowGroups()[p.group]
	if group.NumRows() < 0 {
		return fmt.Errorf("got %d rows", group.NumRows())
	}
	chunks := group.ColumnChunks()
	if len(chunks) != len(p.columns) {
		return fmt.Errorf("got %d columns, want %d as in the schema", len(chunks), len(p.columns))
	}
	if err := checkPages(p.parquet, p.group, int64(p.options.PageBytes)); err != nil {
		return err
	}
	p.group++
	p.left = group.NumRows()
	for i, chunk := range chunks {
		p.columns[i] = &column{pages: chunk.Pages()}
	}
	return nil
}

func (p *parquetFile) closeColumns() {
	for i, c := range p.columns {
		if c != nil {
			_ = c.pages.Close() // it holds memory only
			p.columns[i] = nil
		}
	}
}

func (p *parquetFile) total() (int64, bool) { return p.parquet.NumRows(), true }

func (p *parquetFile) close() (err error) {
	defer p.file.Close()
	defer recovered(&err)
	p.closeColumns()
	return nil
}

// maxRowValues bounds the values of one column in one row.
const maxRowValues = 1 << 20

// column reads one column chunk. Pages are left to the garbage collector and not handed back to the library, since the values of a row point into them.
type column struct {
	pages  parquet.Pages
	values parquet.ValueReader
	buf    [128]parquet.Value
	at, n  int
	out    []parquet.Value
}

// peek gives the next value, or io.EOF after the last one.
func (c *column) peek() (*parquet.Value, error) {
	for c.at == c.n {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return nil, err
			}
			c.values = page.Values()
		}
		n, err := c.values.ReadValues(c.buf[:])
		c.at, c.n = 0, n
		switch {
		case errors.Is(err, io.EOF):
			c.values = nil
		case err != nil:
			return nil, err
		case n == 0:
			return nil, io.ErrNoProgress
		}
	}
	return &c.buf[c.at], nil
}

// row gives the values of the next row, valid until the following call, and whether these are all of them.
func (c *column) row() (values []parquet.Value, complete bool, err error) {
	c.out, complete = c.out[:0], true
	for {
		v, err := c.peek()
		switch {
		case errors.Is(err, io.EOF) && len(c.out) > 0:
			return c.out, complete, nil
		case err != nil:
			return nil, false, cutOff(err)
		case len(c.out) > 0 && v.RepetitionLevel() == 0:
			return c.out, complete, nil
		case len(c.out) == 0 && v.RepetitionLevel() != 0:
			return nil, false, errors.New("got a row that begins in the middle")
		}
		c.at++
		if len(c.out) < maxRowValues {
			c.out = append(c.out, *v)
		} else {
			complete = false
		}
	}
}
