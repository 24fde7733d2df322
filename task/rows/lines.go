package rows

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lines reads lines of bounded length.
type lines struct {
	in     *bufio.Reader
	closer io.Closer
	most   int
	number int64 // of the line read last
}

func newLines(in io.ReadCloser, most int) *lines {
	return &lines{in: bufio.NewReaderSize(in, 256<<10), closer: in, most: most}
}

// next gives the next line with its line feed, valid until the following call where it did not have to be put together. A line that is too long is skipped whole, and is a *badRow; at the end it gives io.EOF.
func (l *lines) next() ([]byte, error) {
	var whole []byte
	long, any := false, false
	for {
		piece, err := l.in.ReadSlice('\n')
		if !any && (len(piece) > 0 || err == nil) {
			any = true
			l.number++
			if l.number == 1 {
				piece = bytes.TrimPrefix(piece, []byte("\xef\xbb\xbf")) // byte order mark
			}
		}
		if len(whole)+len(piece) > l.most+2 { // the end of the line does not count
			long, whole = true, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if !long {
				whole = append(whole, piece...)
			}
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case err != nil && !any:
			return nil, io.EOF
		case long:
			return nil, badf("got a line of more than %d bytes", l.most)
		case whole == nil:
			return piece, nil
		}
		return append(whole, piece...), nil
	}
}

func (l *lines) close() error { return l.closer.Close() }
