package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
)

// lines is a transport over a pair of pipes: a message a line.
type lines struct {
	in  io.ReadCloser  // what the program writes
	out io.WriteCloser // what it reads

	received chan []byte
	closed   chan struct{}
	once     sync.Once
	read     chan struct{} // closed when the reader has ended
	last     error         // of the reader, valid after read
}

// newLines makes a transport whose lines have at most most bytes. It reads one line ahead, in a goroutine that ends at the end of in or
// after Close; closing in must end a read that waits, as it does for pipes.
func newLines(in io.ReadCloser, out io.WriteCloser, most int) *lines {
	l := &lines{in: in, out: out, received: make(chan []byte), closed: make(chan struct{}), read: make(chan struct{})}
	go l.reader(most)
	return l
}

func (l *lines) reader(most int) {
	defer close(l.read)
	r := bufio.NewReaderSize(l.in, min(16<<10, most+1))
	for {
		line, err := readLine(r, most)
		if err != nil {
			l.last = err
			return
		}
		select {
		case l.received <- line:
		case <-l.closed:
			l.last = io.ErrClosedPipe
			return
		}
	}
}

// readLine reads to the next newline, which it drops, and finds that a line is too long before it has read more than that. What follows
// the last newline is no line: its errors are io.ErrUnexpectedEOF, or io.EOF where nothing follows.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(part, []byte("\n"))) > most {
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// Send implements transport.
func (l *lines) Send(message []byte) error {
	line := make([]byte, 0, len(message)+1)
	_, err := l.out.Write(append(append(line, message...), '\n'))
	return err
}

// Receive implements transport.
func (l *lines) Receive(ctx context.Context) ([]byte, error) {
	select {
	case line := <-l.received:
		return line, nil
	case <-l.read:
		return nil, l.last
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close implements transport.
func (l *lines) Close() {
	l.once.Do(func() {
		close(l.closed)
		l.in.Close()
		l.out.Close()
	})
}
