package sandbox

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// On the pipes of a worker with streams every frame after the greeting names its stream: four bytes of length (big endian, of what
// follows), one byte of kind, four bytes of stream number, the payload. The parent gives the numbers, each once.
const (
	streamOpen    = 'O' // to the worker: a stream begins
	streamMessage = 'M' // in both directions
	streamCancel  = 'C' // to the worker: the stream is given up; the worker still has to end it
	streamEnd     = 'E' // from the worker: the entry has returned; the number is free of it
	streamError   = 'X' // from the worker: the entry has returned an error; the payload is its text
)

const streamHeader = 9

type streamFrame struct {
	kind    byte
	stream  uint32
	payload []byte
}

func (f streamFrame) size() int { return streamHeader + len(f.payload) }

func (f streamFrame) appendTo(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(5+len(f.payload)))
	b = append(b, f.kind)
	b = binary.BigEndian.AppendUint32(b, f.stream)
	return append(b, f.payload...)
}

// badFrame is a frame that no honest worker writes.
type badFrame struct{ detail string }

func (e *badFrame) Error() string { return "sandbox stream: " + e.detail }

// readStreamFrame reads one frame. The other side is not trusted: kind and length are checked before any memory is taken
// for the payload, of which a message may have at most maxMessage bytes.
func readStreamFrame(r *bufio.Reader, maxMessage int) (streamFrame, error) {
	header, err := r.Peek(streamHeader)
	if err != nil {
		if len(header) > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return streamFrame{}, err
	}
	n := int64(binary.BigEndian.Uint32(header)) - 5
	f := streamFrame{kind: header[4], stream: binary.BigEndian.Uint32(header[5:])}
	var limit int
	switch f.kind {
	case streamMessage:
		limit = maxMessage
	case streamError:
		limit = maxText
	case streamOpen, streamCancel, streamEnd:
	default:
		return streamFrame{}, &badFrame{fmt.Sprintf("got a frame of kind %q", f.kind)}
	}
	if n < 0 || n > int64(limit) {
		return streamFrame{}, &badFrame{fmt.Sprintf("frame of kind %q: got %d bytes, want 0 to %d", f.kind, n, limit)}
	}
	_, _ = r.Discard(streamHeader) // it is in the buffer
	if n == 0 {
		return f, nil
	}
	f.payload = make([]byte, n)
	if _, err := io.ReadFull(r, f.payload); err != nil {
		return streamFrame{}, fmt.Errorf("sandbox stream: frame cut short: %w", err)
	}
	return f, nil
}
