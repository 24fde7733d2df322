package rows

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Reader gives the rows of one file. It is for one goroutine.
type Reader struct {
	path   string
	share  float64
	source source
	rows   int64 // read, bad ones included
	bad    int64
	first  []string // the first bad rows, for people
	ended  error
}

// source is a format's side of a reader.
type source interface {
	// next gives the fields of the next row and its number; io.EOF at the end. A *badRow means that the row was skipped; after any
	// other error there is nothing more.
	next() (fields, int64, error)
	// total is how many rows there are in all, if the file says so.
	total() (int64, bool)
	close() error
}

// badRow is why a row cannot be read.
type badRow struct{ err error }

func (b *badRow) Error() string { return b.err.Error() }
func (b *badRow) Unwrap() error { return b.err }

func badf(format string, args ...any) error { return &badRow{fmt.Errorf(format, args...)} }

// Open opens a file. An error names it; the caller closes the reader.
func Open(path string, o Options) (*Reader, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := openSource(path, o)
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return &Reader{path: path, share: o.BadShare, source: s}, nil
}

// hopeless is how many rows of a file are read before it may be given up because most of them are bad.
const hopeless = 1000

// Next gives the next row; io.EOF after the last one, or an error that says why the file cannot be used. After an error it gives the same again.
func (r *Reader) Next() (Row, error) {
	if r.ended != nil {
		return Row{}, r.ended
	}
	for {
		f, number, err := r.source.next()
		var bad *badRow
		switch {
		case err == nil:
			r.rows++
			return Row{file: r.path, number: number, fields: f}, nil
		case errors.As(err, &bad):
			r.rows++
			if err := r.count(number, bad.err); err != nil {
				return Row{}, err
			}
		case errors.Is(err, io.EOF):
			r.ended = r.judge()
			return Row{}, r.ended
		default:
			r.ended = fmt.Errorf("rows: %s: %w", at(r.path, number), err)
			return Row{}, r.ended
		}
	}
}

// Bad counts a row that the caller cannot use. It gives nil where the caller may go on with the next row, or the error that ends the file, which Next gives from then on.
func (r *Reader) Bad(row Row, err error) error { return r.count(row.number, err) }

// firstBad is how many bad rows are told one by one.
const firstBad = 3

func (r *Reader) count(number int64, err error) error {
	r.bad++
	if len(r.first) < firstBad {
		r.first = append(r.first, fmt.Sprintf("row %d: %s", number, oneLine(err.Error())))
	}
	// How many rows there are is known at the end; but a file without leave for bad rows, or of another kind altogether, is told at once.
	total, known := r.source.total()
	switch {
	case r.share == 0, known && r.over(total), r.rows >= hopeless && 2*r.bad > r.rows && r.share < 0.5:
		r.ended = r.fatal()
	}
	return r.ended
}

func (r *Reader) over(total int64) bool { return float64(r.bad) > r.share*float64(total) }

// judge gives the error of a file that has ended, io.EOF if all is well.
func (r *Reader) judge() error {
	if r.bad > 0 && r.over(r.rows) {
		return r.fatal()
	}
	return io.EOF
}

func (r *Reader) fatal() error {
	return fmt.Errorf("rows: %s: got %d bad rows of %d, want at most %.2g%%: %s", r.path, r.bad, r.rows, 100*r.share, r.examples())
}

func (r *Reader) examples() string {
	text := strings.Join(r.first, "; ")
	if n := r.bad - int64(len(r.first)); n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// Notes tells people which rows were skipped; nothing where none was.
func (r *Reader) Notes() []string {
	if r.bad == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: skipped %d bad rows of %d: %s", r.path, r.bad, r.rows, r.examples())}
}

// Rows is how many rows were read so far, bad ones included.
func (r *Reader) Rows() int64 { return r.rows }

// Close closes the file. Closing again does nothing.
func (r *Reader) Close() error {
	if r.source == nil {
		return nil
	}
	err := r.source.close()
	r.source = closed{}
	if r.ended == nil {
		r.ended = fmt.Errorf("rows: %s: the reader is closed", r.path)
	}
	return err
}

type closed struct{}

func (closed) next() (fields, int64, error) { return nil, 0, io.EOF }
func (closed) total() (int64, bool)         { return 0, false }
func (closed) close() error                 { return nil }

func at(path string, number int64) string {
	if number == 0 {
		return path
	}
	return fmt.Sprintf("%s:row %d", path, number)
}

// oneLine makes a text from outside fit for a line of a message.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
